"""Text that must never be stored: passwords, numbers of documents and cards, keys, codes."""

import re

_SECRETS = re.compile(
    r"(?:密码|口令|验证码|动态码|校验码|门禁码|开门码|取款码|pin码|password|passcode|passphrase|\bpwd\b|\bpin\b(?: code| number)?|verification code|security code|door code|\bcvv\b|\botp\b|2fa)\S{0,6}\s?(?:是|为|:|：|=|is|就是|改成|to)?\s?\S*[A-Za-z0-9#@!$%^&*]{3,}"
    r"|(?:身份证|护照|社保卡?|银行卡|信用卡|储蓄卡|卡号|账号|驾照|passport|ssn|social security|credit card|card number|account number|routing number|id (?:card|number)|driver'?s licen[cs]e)\D{0,12}[A-Z]?\d[\d\s-]{5,}"
    r"|(?<!\d)\d{17}[\dXx](?!\d)|(?<!\d)(?:\d[ -]?){15,18}\d(?!\d)|(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"
    r"|\b(?:sk|pk|ghp|gho|xox[bap]|AKIA|AIza|eyJ)[-_A-Za-z0-9]{8,}|\b[A-Fa-f0-9]{32,}\b|-----BEGIN|\b(?:api|secret|access)[_ -]?(?:key|token)\b\s*(?:is|=|:|：)?\s*\S{6,}",
    re.I,
)
_PHONE = re.compile(
    r"(?<!\d)1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)|(?<!\d)(?:\+\d{1,3}[ -]?)?\(?\d{3}\)?[ -]\d{3}[ -]\d{4}(?!\d)|(?:电话|手机号?|phone|number is|call me (?:at|on))\D{0,8}\+?\d[\d -]{6,}"
)


def holds_secret(text: str) -> bool:
    """Whether ``text`` gives away a secret or a phone number."""
    return bool(_SECRETS.search(text) or _PHONE.search(text))
