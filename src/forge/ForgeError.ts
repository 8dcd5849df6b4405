/** The one error of git hosts: why a request failed, and what the caller may do. */
import { Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

export class ForgeError extends Schema.TaggedError<ForgeError>()("ForgeError", {
  /**
   * Determines what the caller does next. `unauthorized`, `forbidden`, `not_found`, `invalid`: do not retry. `rate_limited`,
   * `unavailable`: retry after `retryAfterMillis`. `unknown_outcome`: the request was sent and its response is missing, so read
   * the current state before retrying. `pending_review`: a person has an unpublished review or draft under the account of the
   * service, which the write would publish; nothing was written, so wait until that person has published or deleted it.
   */
  reason: Schema.Literals([
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "invalid",
    "rate_limited",
    "unavailable",
    "unknown_outcome",
    "pending_review"
  ]),
  status: Schema.optional(Schema.Int),
  retryAfterMillis: Schema.optional(Schema.Int),
  /** True when the host fails all requests and not only this one (HostHealth.ts). */
  isOutage: Schema.optional(Schema.Boolean),
  /** Name of the trigger whose credential the host refuses for all requests, not only for this one. */
  lostCredential: Schema.optional(Schema.String),
  /** Method and URL, never a query or a credential, or what was to be done. */
  operation: Schema.String,
  /** Operators read it. */
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** Returns whether the response to a read was larger than the client accepts. */
export const isTooLarge = ({ why }: ForgeError): boolean => why._tag === "HostTooLarge"

/** Returns an error whose text begins with the operation. */
export const requestFailed = (reason: ForgeError["reason"], operation: string, why: Reason): ForgeError =>
  new ForgeError({ reason, operation, why: { _tag: "RequestFailed", operation, why } })
