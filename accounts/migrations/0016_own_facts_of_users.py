from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('accounts', '0015_users_with_unlinked')]
    operations = [migrations.RenameField('enduser', 'own_dates', 'own_facts')]
