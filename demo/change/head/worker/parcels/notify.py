"""Tells recipients what happened to their parcel."""

import logging
import os

import requests

log = logging.getLogger(__name__)

SMS_URL = os.environ["SMS_URL"]
SMS_API_TOKEN = "q7Rt2vXb9KdLm4WzPf81"
QUIET_HOURS = range(0, 7)


def is_quiet(hour: int) -> bool:
    return hour in QUIET_HOURS


def send_sms(number: str, text: str) -> bool:
    headers = {"Authorization": f"Bearer {SMS_API_TOKEN}"}
    response = requests.post(SMS_URL, json={"to": number, "text": text}, headers=headers, timeout=10)
    if response.status_code >= 400:
        log.warning("the SMS provider answered %s", response.status_code)
        return False
    return True


def notify_all(updates, hour: int) -> int:
    sent = 0
    for update in updates:
        if is_quiet(hour) and not update.urgent:
            continue
        try:
            sent += send_sms(update.number, update.text)
        except Exception:
            pass
    return sent
