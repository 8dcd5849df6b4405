/** Reasons for which a credential cannot be sealed or opened. */
import type { Params } from "../ReasonParams.ts"

export const sealingReasons = {
  SealedUnreadable: { code: "text", why: "reason" },
  SealedEntered: {},
  SealingKeyMissing: {},
  SealingKeyUnset: { variable: "text" },
  SealingKeyMalformed: { variable: "text" },
  RetiredKeyMalformed: { variable: "text" },
  SealedForm: {},
  SealedWithKey: { kid: "text", variable: "text" },
  SealedWithOtherKey: { kid: "text", kids: "text", variable: "text" },
  SealedElsewhere: { entity: "text", field: "text", namespace: "text" },
  /** Sealing with the current key. */
  RecordNotSealed: { record: "text", why: "reason" },
  RecordOfNewerRelease: {},
  RecordKeepsChanging: {},
  /** Fields of `aicr secrets`. */
  FieldPathInvalid: { path: "text" },
  NotACredential: { field: "text" }
} as const satisfies Record<string, Params>
