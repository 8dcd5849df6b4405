/** A change of a credential, for the preview of an edit. */
import { Schema } from "effect"

/** Fields of the destination of a credential, such as `base_url`. Those of its trigger or connection are prefixed. */
const Receiver = Schema.Record(Schema.String, Schema.Unknown)
export type Receiver = typeof Receiver.Type

export const CredentialChange = Schema.Struct({
  /** Holder of the credential, such as `triggers/main`. */
  entity: Schema.String,
  /** Field of the credential, or of the variable that contains it. */
  path: Schema.String,
  /** `set`: another credential than before; `renamed`: the holder has another name; `redirected`: another receiver only. */
  change: Schema.Literals(["set", "renamed", "redirected"]),
  /** The holder before it was renamed. */
  from: Schema.optional(Schema.String),
  before: Schema.optional(Receiver),
  after: Receiver
})
export type CredentialChange = typeof CredentialChange.Type
