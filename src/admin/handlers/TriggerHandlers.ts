/** Handles requests about the set-up of triggers. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { isSearched } from "../../admission/IsSearched.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import { CatchUps } from "../../store/CatchUps.ts"
import type { CatchUp } from "../../store/CatchUps.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { TriggerActivity } from "../../store/Receipts.ts"
import { RejectedSignatures } from "../../store/RejectedSignatures.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { because, conflict, notFound, TooManyRequests } from "../api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { listInventory, readInventories, requestInventory, setUp } from "./InventoryHandlers.ts"
import { maybeTime, toTime } from "../views/Views.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { publicUrl } from "../../domain/RunLink.ts"
import { reportAccess } from "../../forge/Access.ts"
import type { AccessReport } from "../../forge/Access.ts"
import type { TriggerCheck } from "../api/TriggerGroup.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { TriggerKind } from "../../domain/Kinds.ts"

/** Describes the set-up of triggers: which of their credentials are set, which workspaces name them. Never their values. Pure. */

type CredentialState = "set" | "missing" | "not_used"

interface TriggerSetup {
  readonly name: string
  readonly kind: TriggerKind
  readonly enabled: boolean
  readonly path: string | undefined
  readonly baseUrl: string | undefined
  readonly workspaces: number
  readonly secret: CredentialState
  readonly token: CredentialState
}

const callPaths: Partial<Record<TriggerKind, string>> = {
  perforce: "/triggers/p4",
  subversion: "/triggers/svn",
  manual: "/triggers/manual"
}

const state = (isSet: boolean): CredentialState => (isSet ? "set" : "missing")

/** Returns whether any caller of `/triggers/*` can authenticate. */
const hasApiKey = ({ credential, document, workspaces }: Snapshot): boolean =>
  [document.server.auth, ...[...workspaces.values()].map(({ instance }) => instance.auth)].some(
    (holder) => holder.enabled && credential(holder, "api_key") !== undefined
  )

const secretOf = (snapshot: Snapshot, { kind, webhookSecret }: TriggerProfile): CredentialState => {
  if (isForgeKind(kind)) return state(webhookSecret !== undefined)
  return callPaths[kind] === undefined ? "not_used" : state(hasApiKey(snapshot))
}

const tokenOf = ({ credential }: Snapshot, { kind, settings, token }: TriggerProfile): CredentialState => {
  if (isForgeKind(kind)) return state(token !== undefined || settings.app !== undefined)
  if (kind !== "perforce" && kind !== "subversion") return "not_used"
  const names = kind === "perforce" ? ["ticket", "password"] : ["password"]
  return state(names.some((name) => credential(settings, name) !== undefined))
}

/** A rule that names no trigger matches those of every trigger. */
const names = ({ instance }: Workspace, trigger: string): boolean =>
  instance.source_repo?.trigger === trigger ||
  (instance.match ?? []).some(({ triggers }) => triggers === undefined || triggers.includes(trigger))

/** Returns the set-up of every trigger, by name. `prefix` is `server.path_prefix`, normalised. */
const listSetups = (snapshot: Snapshot, prefix: string): ReadonlyArray<TriggerSetup> => {
  const workspaces = [...snapshot.workspaces.values()]
  return [...snapshot.triggers.values()]
    .map((trigger) => {
      const { baseUrl, enabled, kind, name } = trigger
      const path = isForgeKind(kind) ? `/webhooks/${kind}` : callPaths[kind]
      return {
        name,
        kind,
        enabled,
        path: path === undefined ? undefined : `${prefix}${path}`,
        baseUrl,
        workspaces: workspaces.filter((workspace) => names(workspace, name)).length,
        secret: secretOf(snapshot, trigger),
        token: tokenOf(snapshot, trigger)
      }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * Checks one trigger for an administrator: its set-up, the permissions of its credential and the webhooks of its repositories at the host
 * (src/forge/Access.ts, as `aicr doctor` does), and whether the service responds at its public address. Changes nothing.
 */

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

const checkTrigger = Effect.fnUntraced(function* (snapshot: Snapshot, setup: TriggerSetup) {
  const host = yield* reportAccess(snapshot, setup.name)
  const address = setup.path === undefined ? [] : [yield* checkAddress(snapshot)]
  return [...checkSetup(setup), ...host.map(({ level, reason }) => result("host", level, reason)), ...address]
})

const week = Duration.toMillis("7 days")
const day = Duration.toMillis("1 day")
const maxRejected = 1000

const noActivity: Omit<TriggerActivity, "trigger"> = {
  lastAt: undefined,
  lastAcceptedAt: undefined,
  recent: 0,
  recentIgnored: 0
}

const normalisePrefix = (prefix: string): string => {
  const parts = prefix.split("/").filter((part) => part !== "")
  return parts.map((part) => `/${part}`).join("")
}

const prefixOf = ({ document: { server } }: Snapshot): string => normalisePrefix(server.path_prefix ?? "")

const catchUpView = (found: CatchUp | undefined) =>
  withoutUndefined({
    last_at: maybeTime(found?.searchedAt),
    requested_at: maybeTime(found?.requestedAt),
    occasion: found?.occasion,
    found: found?.found ?? 0,
    found_at: maybeTime(found?.foundAt),
    found_since: maybeTime(found?.foundSince),
    found_for: found?.foundFor,
    skipped: found?.skipped ?? 0,
    failure: found?.failure
  })

/** Returns the searches of the triggers that are searched, by name. */
const readCatchUps = Effect.fnUntraced(function* ({ triggers }: Snapshot) {
  const found = new Map((yield* (yield* CatchUps).list).map((one) => [one.trigger, one]))
  const searched = [...triggers.values()].filter(isSearched)
  return new Map(searched.map(({ name }) => [name, catchUpView(found.get(name))]))
})

const list = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const activity = yield* (yield* Receipts).activity({ since: now - week, recentSince: now - day })
  const byTrigger = new Map(activity.map((one) => [one.trigger, one]))
  const rejected = new Map<string, number>()
  for (const { counts, trigger } of yield* (yield* RejectedSignatures).list({ since: now - day, limit: maxRejected }))
    rejected.set(trigger, (rejected.get(trigger) ?? 0) + counts.loopback + counts.private + counts.public)
  const waiting = yield* (yield* Outbox).awaitingCredentials
  const catchUps = yield* readCatchUps(snapshot)
  const inventories = yield* readInventories(snapshot)
  const items = listSetups(snapshot, prefixOf(snapshot))
  return {
    items: items.map(({ baseUrl, ...setup }) => {
      const { lastAcceptedAt, lastAt, recent, recentIgnored } = byTrigger.get(setup.name) ?? noActivity
      return withoutUndefined({
        ...setup,
        base_url: baseUrl,
        last_delivery_at: maybeTime(lastAt),
        last_accepted_at: maybeTime(lastAcceptedAt),
        deliveries_24h: recent,
        ignored_24h: recentIgnored,
        rejected_signatures_24h: rejected.get(setup.name) ?? 0,
        waiting_publications: waiting.get(setup.name) ?? 0,
        catch_up: catchUps.get(setup.name),
        inventory: inventories.get(setup.name)
      })
    })
  }
})

/** Interval in milliseconds between two checks of a trigger, so that they do not use up the limits of its host. */
const checkEvery = 10_000

/** Returns a function that checks a trigger, unless it was checked a moment ago. */
const makeCheck = () => {
  const checkedAt = new Map<string, number>()
  return Effect.fnUntraced(function* (name: string) {
    const snapshot = (yield* ConfigStore).current()
    const setup = listSetups(snapshot, prefixOf(snapshot)).find((one) => one.name === name)
    if (setup === undefined) return yield* unknownTrigger(name)
    const now = yield* Clock.currentTimeMillis
    const wait = (checkedAt.get(name) ?? Number.NEGATIVE_INFINITY) + checkEvery - now
    if (wait > 0) {
      return yield* new TooManyRequests({
        code: "check_throttled",
        ...because({ _tag: "CheckedJustNow" }),
        retry_after: Math.ceil(wait / 1000)
      })
    }
    for (const [other, at] of checkedAt) if (at + checkEvery <= now) checkedAt.delete(other)
    checkedAt.set(name, now)
    return { items: yield* checkTrigger(snapshot, setup) }
  })
}

const unknownTrigger = (name: string) => notFound({ _tag: "TriggerUnknown", trigger: JSON.stringify(name) })

const catchUp = Effect.fnUntraced(function* (name: string) {
  const trigger = (yield* ConfigStore).current().triggers.get(name) ?? (yield* unknownTrigger(name))
  if (!isSearched(trigger)) return yield* conflict("not_searched", { _tag: "NothingToCatchUp", trigger: name })
  const now = yield* Clock.currentTimeMillis
  yield* (yield* CatchUps).request([name], "requested", now)
  return { name, requested_at: toTime(now) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "triggers", (handlers) => {
  const check = makeCheck()
  return handlers.handleAll({
    list: () => orUnavailable(list),
    check: ({ params }) => check(params.name),
    catchUp: ({ params }) => orUnavailable(catchUp(params.name)),
    inventory: ({ params }) => orUnavailable(listInventory(params.name)),
    checkInventory: ({ params }) => orUnavailable(requestInventory(params.name)),
    setUp: ({ params, payload }) => orUnavailable(setUp(params.name, payload))
  })
})
