"""What the undo of an import does beside putting rows back."""

from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "imports"

    def ready(self) -> None:
        from imports import intake, people_intake
        from memories.corrections import undo

        undo.ALSO[intake.VERB] = intake.take_back
        people_intake.register()
