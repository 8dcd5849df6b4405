/** Reasons for which a credential cannot be sealed or opened. */
import type { sealingReasons } from "../../domain/reasons/Sealing.ts"

export const sealingTexts = {
  SealedUnreadable: "{code}: {why}",
  SealedEntered: "a sealed value cannot be entered; enter the credential itself, which is sealed when it is stored",
  SealingKeyMissing: "no key is set; set SVC_CONFIG_SECRETS_KEY",
  SealingKeyUnset: "set {variable}; make one with: openssl rand -hex 32",
  SealingKeyMalformed: "{variable} is not 32 bytes in hex or base64; make one with: openssl rand -hex 32",
  RetiredKeyMalformed: "a key in {variable} is not 32 bytes in hex or base64",
  SealedForm: "not of the form enc:v1.<kid>.<nonce>.<ciphertext+tag>; seal it again",
  SealedWithKey: "it is sealed with key {kid}; set {variable} to that key",
  SealedWithOtherKey: "it is sealed with key {kid}, and the keys given are {kids}; add that key to {variable}",
  SealedElsewhere:
    "it does not open here: it was sealed for another place than {entity} {field} in namespace {namespace}, or it is damaged; seal it again for this field",
  RecordNotSealed: "{record}: {why}",
  RecordOfNewerRelease: "a newer release wrote it; seal it again with that release",
  RecordKeepsChanging: "it changes all the time; repeat the command",
  FieldPathInvalid: "invalid path {path}; write one like triggers.main.token",
  NotACredential: "{field} is not a credential; only fields that the reference calls a secret are sealed"
} as const satisfies Record<keyof typeof sealingReasons, string>
