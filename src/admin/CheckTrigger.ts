/**
 * Checks one trigger for an administrator: its set-up, the permissions of its credential and the webhooks of its repositories at the host
 * (src/forge/Access.ts, as `aicr doctor` does), and whether the service responds at its public address. Changes nothing.
 */
import { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import { publicUrl } from "../domain/RunLink.ts"
import { reportAccess } from "../forge/Access.ts"
import type { AccessReport } from "../forge/Access.ts"
import type { TriggerSetup } from "./TriggerHealth.ts"

export interface CheckResult {
  readonly check: "setup" | "host" | "address"
  readonly ok: boolean
  readonly level: AccessReport["level"]
  readonly message: string
}

const result = (check: CheckResult["check"], level: AccessReport["level"], message: string): CheckResult => ({
  check,
  ok: level === "ok",
  level,
  message
})

/** Returns what the configuration lacks. Pure. */
export const checkSetup = ({
  enabled,
  kind,
  name,
  secret,
  token,
  workspaces
}: TriggerSetup): ReadonlyArray<CheckResult> => {
  const problems = [
    ...(enabled ? [] : [result("setup", "error", `trigger ${name} has enabled: false; it starts no reviews`)]),
    ...(secret === "missing"
      ? [
          isForgeKind(kind)
            ? result(
                "setup",
                "warning",
                `trigger ${name} has no webhook secret: anyone can send it deliveries; set webhook_secret_env`
              )
            : result("setup", "error", `no API key is configured, so calls are refused; set server.auth.api_key_env`)
        ]
      : []),
    ...(token === "missing"
      ? [
          result(
            "setup",
            "error",
            `trigger ${name} has no credential for its host or server, so nothing is read or published; set one`
          )
        ]
      : []),
    ...(workspaces === 0
      ? [
          result(
            "setup",
            "warning",
            `no workspace names trigger ${name}; add it to source_repo or match of a workspace`
          )
        ]
      : [])
  ]
  return problems.length > 0
    ? problems
    : [result("setup", "ok", `trigger ${name}: credentials are set, ${workspaces} workspaces name it`)]
}

/** Timeout in milliseconds of the request to the own address. */
const addressTimeout = 5000

/** Requests the liveness of the service at its public address, which only the configuration file determines. Follows no redirect. */
const checkAddress = Effect.fnUntraced(function* ({ document: { server } }: Snapshot) {
  const url = publicUrl(server, "/healthz")
  if (url === undefined) {
    return result(
      "address",
      "warning",
      "server.base_url is not set, so links and webhook addresses are not known; set it"
    )
  }
  const problem = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, {
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(addressTimeout)])
      })
      await response.body?.cancel()
      return response.status === 200 ? undefined : `it responds with status ${response.status}`
    },
    catch: () => `no response within ${addressTimeout / 1000} s, or no connection`
  }).pipe(Effect.catch(Effect.succeed))
  return problem === undefined
    ? result("address", "ok", `the service responds at ${url}`)
    : result("address", "warning", `${url}: ${problem}; hosts may still reach it from another network`)
})

export const checkTrigger = Effect.fnUntraced(function* (snapshot: Snapshot, setup: TriggerSetup) {
  const host = yield* reportAccess(snapshot, setup.name)
  const address = setup.path === undefined ? [] : [yield* checkAddress(snapshot)]
  return [...checkSetup(setup), ...host.map(({ level, text }) => result("host", level, text)), ...address]
})
