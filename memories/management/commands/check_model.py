"""bin/mio check_model [MODEL]"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories.providers import model_check
from memories.providers.factory import openai_provider


class Command(MioCommand):
    help = (
        "Has a language model read five short chats and says whether it is good enough. Exit code "
        "1 when it is not. Nothing is stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "model", nargs="?", help="a model of the server, default: MIO_LLM_MODEL"
        )
        super().add_arguments(parser)

    def handle(self, *, model: str | None, json: bool, **_options: Any) -> None:
        """Grades how a model (None: MIO_LLM_MODEL) reads sample chats. CommandError if badly."""
        if settings.MIO_LLM != "openai":
            raise CommandError("No model is set. Set OPENAI_BASE_URL or OPENAI_API_KEY.")
        provider = openai_provider(model or settings.MIO_LLM_MODEL)
        graded = []
        samples = model_check.samples()
        with self.bar(len(samples), "read") as bar:
            for sample in samples:
                graded.append(model_check.grade(provider, sample))
                bar.update()
        grade, explanation = model_check.verdict(graded)
        if json:
            self.report(
                json,
                model=provider.model,
                grade=grade,
                verdict=explanation,
                score=round(model_check.score(graded), 3),
                samples=[
                    {
                        "name": one.name,
                        "checks": one.checks,
                        "missed": one.missed,
                        "error": one.error,
                        "seconds": round(one.seconds, 2),
                        "tokens_in": one.usage.tokens_in,
                        "tokens_out": one.usage.tokens_out,
                    }
                    for one in graded
                ],
            )
        else:
            for one in graded:
                problems = [one.error] if one.error else one.missed
                passed = 0 if one.error else one.checks - len(one.missed)
                self.stdout.write(f"{passed}/{one.checks}  {one.seconds:5.1f} s  {one.name}")
                for problem in problems:
                    self.stdout.write(f"     {problem}")
            self.stdout.write(f"{provider.model}: {explanation}")
        if grade in ("poor", "unreachable"):
            raise CommandError(f"{provider.model} is not good enough.")
