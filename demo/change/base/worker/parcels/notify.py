"""Tells recipients what happened to their parcel."""

import logging
import os

import requests

log = logging.getLogger(__name__)

SMS_URL = os.environ["SMS_URL"]


def send_sms(number: str, text: str) -> bool:
    response = requests.post(SMS_URL, json={"to": number, "text": text}, timeout=10)
    if response.status_code >= 400:
        log.warning("the SMS provider answered %s", response.status_code)
        return False
    return True
