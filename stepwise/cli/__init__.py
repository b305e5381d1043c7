"""The `stepwise` command line; nothing else imports it."""
