/**
 * Checks one trigger for an administrator: its set-up, the permissions of its credential and the webhooks of its repositories at the host
 * (src/forge/Access.ts, as `aicr doctor` does), and whether the service responds at its public address. Changes nothing.
 */
import { Effect } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { publicUrl } from "../../domain/RunLink.ts"
import { reportAccess } from "../../forge/Access.ts"
import type { AccessReport } from "../../forge/Access.ts"
import type { TriggerCheck } from "../api/TriggerGroup.ts"
import type { TriggerSetup } from "./TriggerHealth.ts"
import type { Reason } from "../../domain/Reason.ts"

type CheckResult = typeof TriggerCheck.Type

const result = (check: CheckResult["check"], level: AccessReport["level"], reason: Reason): CheckResult => ({
  check,
  ok: level === "ok",
  level,
  reason
})

/** Returns what the configuration lacks. Pure. */
const checkSetup = ({ enabled, kind, name, secret, token, workspaces }: TriggerSetup): ReadonlyArray<CheckResult> => {
  const problems = [
    ...(enabled ? [] : [result("setup", "error", { _tag: "TriggerDisabled", trigger: name })]),
    ...(secret === "missing"
      ? [
          isForgeKind(kind)
            ? result("setup", "warning", { _tag: "TriggerWithoutSecret", trigger: name })
            : result("setup", "error", { _tag: "NoApiKey" })
        ]
      : []),
    ...(token === "missing" ? [result("setup", "error", { _tag: "TriggerWithoutCredential", trigger: name })] : []),
    ...(workspaces === 0 ? [result("setup", "warning", { _tag: "TriggerWithoutWorkspace", trigger: name })] : [])
  ]
  return problems.length > 0
    ? problems
    : [result("setup", "ok", { _tag: "TriggerSetUp", trigger: name, count: workspaces })]
}

/** Timeout in milliseconds of the request to the own address. */
const addressTimeout = 5000

/** Requests the liveness of the service at its public address, which only the configuration file determines. Follows no redirect. */
const checkAddress = Effect.fnUntraced(function* ({ document: { server } }: Snapshot) {
  const url = publicUrl(server, "/healthz")
  if (url === undefined) return result("address", "warning", { _tag: "NoServiceUrl" })
  const why = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, {
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(addressTimeout)])
      })
      await response.body?.cancel()
      return response.status === 200 ? undefined : ({ _tag: "RespondsWithStatus", status: response.status } as const)
    },
    catch: () => ({ _tag: "RespondsNot", seconds: addressTimeout / 1000 }) as const
  }).pipe(Effect.catch(Effect.succeed))
  return why === undefined
    ? result("address", "ok", { _tag: "AddressResponds", url })
    : result("address", "warning", { _tag: "AddressFails", url, why })
})

export const checkTrigger = Effect.fnUntraced(function* (snapshot: Snapshot, setup: TriggerSetup) {
  const host = yield* reportAccess(snapshot, setup.name)
  const address = setup.path === undefined ? [] : [yield* checkAddress(snapshot)]
  return [...checkSetup(setup), ...host.map(({ level, reason }) => result("host", level, reason)), ...address]
})
