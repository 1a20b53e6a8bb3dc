"""The end user's own page: opened by a signed address alone, without session, cookie or script."""
