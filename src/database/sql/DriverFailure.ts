/** The error of a database driver with its reason: the cause of an `SqlError`, whose class has no field for it. */
import type { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"

export class DriverFailure extends Error {
  readonly why: Reason

  constructor(why: Reason, cause: unknown) {
    super(inEnglish(why), { cause })
    this.why = why
  }
}
