/**
 * Handles requests about the webhooks of a trigger: what the inventory found, and their set-up by hand, which uses the functions of the
 * inventory. Its writes are made under a hold of the trigger, so that the inventory writes none at the same time.
 */
import { Clock, Effect } from "effect"
import { isSearched } from "../../admission/IsSearched.ts"
import { routeRepository } from "../../admission/Select.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { ForgeKind } from "../../domain/Kinds.ts"
import { digestSecret } from "../../domain/SecretDigest.ts"
import { listEvents, listUsedFeatures, webhookSetups } from "../../domain/WebhookSetup.ts"
import {
  describeState,
  findServing,
  isHidden,
  nextWrite,
  readHook,
  scopeKey,
  scopeName,
  wantHook,
  writeHook
} from "../../forge/EnsureHook.ts"
import type { HookWrite, ReadHook, WantedHook } from "../../forge/EnsureHook.ts"
import type { HookScope, HostHooks } from "../../forge/Forge.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { Forges } from "../../forge/Forges.ts"
import { WriteOwner } from "../../forge/WriteOwner.ts"
import { WritePermits } from "../../forge/WritePermits.ts"
import { CatchUps } from "../../store/CatchUps.ts"
import { Inventories } from "../../store/Inventories.ts"
import type { Inventory, InventoryHook } from "../../store/Inventories.ts"
import { conflict, notFound } from "../api/Problems.ts"
import { maybeTime, toTime } from "../views/Views.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"

const maxProblems = 500
/** Webhooks that are read or written at a time. */
const concurrency = 4

interface HostTrigger {
  readonly trigger: TriggerProfile
  readonly kind: ForgeKind
  readonly snapshot: Snapshot
}

/** Returns a trigger of a git host with a credential, at a service whose address is configured. */
const findTrigger = Effect.fnUntraced(function* (name: string) {
  const snapshot = (yield* ConfigStore).current()
  const trigger = snapshot.triggers.get(name)
  if (trigger === undefined) return yield* notFound({ _tag: "TriggerUnknown", trigger: JSON.stringify(name) })
  const { kind } = trigger
  if (!isSearched(trigger) || !isForgeKind(kind))
    return yield* conflict("no_inventory", { _tag: "NoInventory", trigger: name })
  if (snapshot.document.server.base_url === undefined) return yield* conflict("no_inventory", { _tag: "NoServiceUrl" })
  return { kind, snapshot, trigger } satisfies HostTrigger
})

const byHand = ({ kind, snapshot }: HostTrigger, workspaces: ReadonlyArray<Workspace>) => {
  const { contentType, hookRights, ownerPlace, place } = webhookSetups[kind]
  const [url = ""] = wantHook(snapshot, kind, workspaces).addresses
  const events = listEvents(kind, listUsedFeatures(kind, workspaces)).map(({ name }) => name)
  return { url, events, place, owner_place: ownerPlace, content_type: contentType, rights: hookRights }
}

/** Workspaces of a trigger, which decide about the events of a webhook that serves all of them. */
const workspacesOf = ({ snapshot, trigger: { name } }: HostTrigger): ReadonlyArray<Workspace> =>
  [...snapshot.workspaces.values()].filter(
    ({ instance: { match = [], source_repo: source } }) =>
      source?.trigger === name || match.some(({ triggers }) => triggers === undefined || triggers.includes(name))
  )

const inventoryView = (
  state: Inventory | undefined,
  counts: Readonly<Partial<Record<InventoryHook["state"], number>>>,
  isAddressed: boolean
) =>
  withoutUndefined({
    last_at: maybeTime(state?.checkedAt),
    requested_at: maybeTime(state?.requestedAt),
    repositories: state?.repositories ?? 0,
    served: state?.served ?? 0,
    complete: counts.complete ?? 0,
    missing: counts.missing ?? 0,
    broken: counts.broken ?? 0,
    unreadable: counts.unreadable ?? 0,
    created: state?.created ?? 0,
    repaired: state?.repaired ?? 0,
    failure: isAddressed ? state?.failure : ({ _tag: "NoServiceUrl" } as const)
  })

/** Returns the inventories of the triggers that have one, by name. */
export const readInventories = Effect.fnUntraced(function* ({ document: { server }, triggers }: Snapshot) {
  const { counts, list } = yield* Inventories
  const states = new Map((yield* list).map((one) => [one.trigger, one]))
  const byTrigger = Map.groupBy(yield* counts, ({ trigger }) => trigger)
  const isAddressed = server.base_url !== undefined
  const kept = [...triggers.values()].filter(
    (one) => isForgeKind(one.kind) && isSearched(one) && one.settings.inventory.hooks !== "off"
  )
  return new Map(
    kept.map(({ name }) => {
      const found = (byTrigger.get(name) ?? []).map(({ count, state }) => [state, count] as const)
      return [name, inventoryView(states.get(name), Object.fromEntries(found), isAddressed)]
    })
  )
})

export const listInventory = Effect.fnUntraced(function* (name: string) {
  const found = yield* findTrigger(name)
  const problems = yield* (yield* Inventories).problems(name, maxProblems)
  const items = problems.map(({ checkedAt, name: repository, problem, scope, state }) =>
    withoutUndefined({ scope, name: repository, state, problem, checked_at: toTime(checkedAt) })
  )
  return { items, by_hand: byHand(found, workspacesOf(found)) }
})

export const requestInventory = Effect.fnUntraced(function* (name: string) {
  const { trigger } = yield* findTrigger(name)
  if (trigger.settings.inventory.hooks === "off")
    return yield* conflict("no_inventory", { _tag: "NoInventory", trigger: name })
  const now = yield* Clock.currentTimeMillis
  yield* (yield* Inventories).request(name, now)
  return { name, requested_at: toTime(now) }
})

/** A webhook of the target of a set-up. */
interface TargetHook {
  readonly scope: HookScope
  readonly wanted: WantedHook
}

const hostFailed = ({ why }: ForgeError) => conflict("host_failed", why)

const listNames = Effect.fnUntraced(function* (found: HostTrigger, hooks: HostHooks, target: string) {
  const isReviewed = (name: string) => routeRepository(found.snapshot, found.trigger, name).length > 0
  if (target.includes("/") && isReviewed(target)) return [target]
  const owned = yield* Effect.catchIf(hooks.repositories({ name: target, repositories: [] }), isHidden, () =>
    Effect.succeed([])
  )
  const names = owned.flatMap(({ isArchived, repo }) => (isArchived ? [] : repo.fullName)).filter(isReviewed)
  return names.length > 0 ? names : yield* notFound({ _tag: "NothingToSetUp", target })
})

/** Lists the webhooks of a target: those of repositories, or a wider one that serves them. */
const listTarget = Effect.fnUntraced(function* (found: HostTrigger, hooks: HostHooks, target: string) {
  const { kind, snapshot, trigger } = found
  const names = yield* listNames(found, hooks, target)
  const digest = trigger.webhookSecret && digestSecret(trigger.webhookSecret, `webhook ${trigger.name}`)
  const rows = new Map((yield* (yield* Inventories).hooks(trigger.name)).map((hook) => [hook.scope, hook]))
  const workspaces = (name: string) => routeRepository(snapshot, trigger, name)
  const want = (scope: HookScope, used: ReadonlyArray<Workspace>): TargetHook => {
    const { hookId, secretDigest } = rows.get(scopeKey(scope)) ?? {}
    const hasSecret = secretDigest === undefined || digest === undefined ? undefined : secretDigest === digest
    return { scope, wanted: wantHook(snapshot, kind, used, { writtenId: hookId, hasSecret }) }
  }
  const [first = ""] = names
  const all = names.flatMap(workspaces)
  const owner = first.slice(0, Math.max(0, first.lastIndexOf("/")))
  const serving = yield* findServing(hooks, owner, wantHook(snapshot, kind, all))
  const targets =
    serving === undefined
      ? names.map((name) => want({ _tag: "Repository", fullName: name }, workspaces(name)))
      : [want(serving.scope, all)]
  return { digest, targets, by_hand: byHand(found, all) }
})

interface SetUpHook {
  readonly target: TargetHook
  readonly read: ReadHook
  readonly action: HookWrite | undefined
  readonly id: string | undefined
}

/** Reads a webhook, and writes what it needs if that is wanted. A failure of one is shown, and the others go on. */
const setUpHook = Effect.fnUntraced(function* (
  hooks: HostHooks,
  target: TargetHook,
  secret: TriggerProfile["webhookSecret"],
  isApplied: boolean
) {
  const { scope, wanted } = target
  const read = yield* readHook(hooks, scope, wanted)
  const planned = nextWrite(read, wanted, "create")
  if (!isApplied || planned === undefined) return { target, read, action: planned, id: undefined } satisfies SetUpHook
  const { written, ...after } = yield* writeHook(hooks, scope, wanted, read, { mode: "create", secret })
  return { target, read: { ...read, ...after }, action: written?.action, id: written?.id } satisfies SetUpHook
})

const toItem = (
  target: TargetHook,
  result: { readonly read: ReadHook; readonly action: HookWrite | undefined } | ForgeError
) =>
  withoutUndefined({
    scope: scopeKey(target.scope),
    name: scopeName(target.scope),
    ...(result instanceof ForgeError
      ? ({ state: "unreadable", problem: result.why, action: undefined } as const)
      : { ...describeState(result.read), action: result.action })
  })

const holdHooks = Effect.fnUntraced(function* (trigger: string) {
  const inventories = yield* Inventories
  const token = yield* inventories.hold(trigger, "setup", yield* Clock.currentTimeMillis)
  if (token === undefined) return yield* conflict("host_failed", { _tag: "WebhooksSetUp" })
  const lost = (why: ForgeError["why"]) => new ForgeError({ reason: "unavailable", operation: "setup", why })
  const fence = inventories.isHeld(trigger, token).pipe(
    Effect.mapError(({ why }) => lost(why)),
    Effect.flatMap((isHeld) => (isHeld ? Effect.void : Effect.fail(lost({ _tag: "WebhooksSetUp" }))))
  )
  return { fence, release: Effect.ignore(inventories.release(trigger, token)) }
})

/** Stores what was written. The next check of the inventory reads it again. */
const saveWritten = Effect.fnUntraced(function* (
  trigger: string,
  digest: string | undefined,
  done: ReadonlyArray<SetUpHook>
) {
  const now = yield* Clock.currentTimeMillis
  const rows = done.flatMap(({ action, id, read, target: { scope } }): ReadonlyArray<InventoryHook> => {
    if (action === undefined || id === undefined) return []
    const common = { trigger, scope: scopeKey(scope), name: scopeName(scope), ...describeState(read) }
    return [{ ...common, hookId: id, secretDigest: digest, wanted: "", checkedAt: now }]
  })
  if (rows.length === 0) return
  const created = done.filter(({ action, id }) => action === "create" && id !== undefined).length
  yield* (yield* Inventories).save(rows, { startedAt: now, created, repaired: rows.length - created })
  yield* (yield* CatchUps).request([trigger], "hook", now)
})

export const setUp = Effect.fnUntraced(function* (
  name: string,
  { apply, target }: { readonly target: string; readonly apply: boolean }
) {
  const found = yield* findTrigger(name)
  const { hooks } = (yield* Forges).client(found.trigger)
  const { by_hand, digest, targets } = yield* listTarget(found, hooks, target).pipe(
    Effect.catchIf((error): error is ForgeError => error instanceof ForgeError, hostFailed)
  )
  const held = apply ? yield* holdHooks(name) : { fence: Effect.void, release: Effect.void }
  const results = yield* Effect.forEach(
    targets,
    (one) => Effect.result(setUpHook(hooks, one, found.trigger.webhookSecret, apply)),
    { concurrency }
  ).pipe(
    Effect.provideService(WriteOwner, { fence: held.fence, guard: Effect.void }),
    Effect.provide(WritePermits.layerAlone),
    Effect.ensuring(held.release)
  )
  const done = results.flatMap((result) => (result._tag === "Success" ? result.success : []))
  yield* saveWritten(name, digest, done)
  const items = results.map((result, index) => {
    const one = targets[index]
    return one === undefined ? [] : [toItem(one, result._tag === "Success" ? result.success : result.failure)]
  })
  return { items: items.flat(), by_hand }
})
