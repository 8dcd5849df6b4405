/**
 * Distinguishes a host that refuses one request from one that refuses the credential altogether: 401, or 404 also for the repository, which
 * hosts report to accounts that lost their access to it. That is an outage which an operator ends, so reviews and publications wait for it.
 */
import { Effect } from "effect"
import type { Repo } from "../domain/Change.ts"
import type { ForgeClient } from "./Forge.ts"
import { ForgeError } from "./ForgeError.ts"

const unreadable: ReadonlyArray<ForgeError["reason"]> = ["unauthorized", "forbidden", "not_found"]

/** A trigger without a credential has no status: that is an error of the configuration. */
const isUnauthorized = ({ reason, status }: ForgeError): boolean => reason === "unauthorized" && status !== undefined

export const isCredentialLost = Effect.fnUntraced(function* (
  client: ForgeClient,
  repo: Repo,
  error: ForgeError
): Effect.fn.Return<boolean> {
  // Without an installation of the app no request was made, also if it is installed again by now.
  if (isUnauthorized(error) || error.why._tag === "AppNotInstalled") return true
  if (error.reason !== "not_found") return false
  const found = yield* Effect.result(client.repositoryId(repo))
  return found._tag === "Failure" && unreadable.includes(found.failure.reason)
})

export const withLostCredential = (error: ForgeError, trigger: string): ForgeError =>
  new ForgeError({ ...error, lostCredential: trigger })
