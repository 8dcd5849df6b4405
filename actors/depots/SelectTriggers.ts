/**
 * Finds out which triggers a report of a submitted change belongs to, from what the hook names and what the servers returned. Numbers and depot
 * paths exist on every server, so a report is of the server that it names, or of the only one that it can be of. Pure.
 */
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import type { CheckoutError } from "../../src/vcs/Checkout.ts"
import type { SubmittedChange } from "../../src/vcs/SubmittedChanges.ts"

export type RoutedEvent =
  | { readonly _tag: "Settled"; readonly outcome: "executed" | "skipped" | "failed"; readonly reason: Reason }
  /** A later attempt may succeed. */
  | { readonly _tag: "Waiting"; readonly reason: Reason; readonly isOutage: boolean }

/** A report with the triggers that may have its repository. */
export interface HookReport {
  readonly event: StoredEvent
  readonly routing: DepotChange
  readonly triggers: ReadonlyArray<TriggerProfile>
}

/** A report that names a trigger is of the server of that trigger. */
export const findTriggers = (routing: DepotChange, snapshot: Snapshot): ReadonlyArray<TriggerProfile> => {
  const found = snapshot.triggersOfKind(routing.vcs).filter((trigger) => trigger.enabled && mayHave(trigger, routing))
  if (routing.trigger === undefined) return found
  const named = snapshot.triggers.get(routing.trigger)
  if (routing.requestedBy !== undefined) return found.filter((trigger) => trigger === named)
  return named?.kind === routing.vcs ? found.filter((trigger) => isSameServer(trigger, named, routing)) : []
}

/** Triggers of one folder of Subversion and another one may have the same repository, which its UUID shows. */
const isSameServer = (a: TriggerProfile, b: TriggerProfile, { repository }: DepotChange): boolean => {
  if (a.kind === "perforce") return a.settings.port === b.settings.port
  const [one, other] = [a, b].map(({ settings }) => settings.repository_url ?? "")
  if (one === undefined || other === undefined) return false
  return repository === undefined ? isNested(one, other) : hostOf(one) === hostOf(other)
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

const isNested = (a: string, b: string): boolean => {
  const [one = "", other = ""] = [a, b].map((url) => `${url.replace(/(?<!\/)\/+$/, "")}/`)
  return one.startsWith(other) || other.startsWith(one)
}

/** Perforce folders are compared without regard to case. */
const folderOf = (depotPath: string): string => depotPath.replace(/\/?\.\.\.$/, "").toLowerCase()

export const settled = (outcome: "executed" | "skipped" | "failed", reason: Reason): RoutedEvent => ({
  _tag: "Settled",
  outcome,
  reason
})

/**
 * Returns why no server is called about a report: no trigger has its repository, or triggers of several servers may have it. A number exists on
 * every server, and each call is a login there.
 */
export const refuseUnattributed = ({ routing, triggers }: HookReport): RoutedEvent | undefined => {
  const { repository, trigger, vcs } = routing
  const [first] = triggers
  if (first === undefined) {
    const reason: Reason =
      trigger === undefined ? { _tag: "NoTriggerOfKind", kind: vcs } : { _tag: "NoTriggerAtServer", kind: vcs, trigger }
    return { _tag: "Waiting", reason, isOutage: false }
  }
  if (trigger !== undefined || repository !== undefined) return undefined
  if (triggers.every((one) => isSameServer(one, first, routing))) return undefined
  return settled("skipped", { _tag: "TriggersDiffer", names: triggers.map(({ name }) => name) })
}

export interface Selected {
  readonly _tag: "Selected"
  readonly matching: ReadonlyArray<Found>
  /** Reasons of triggers of the same server that could not take their part. */
  readonly failures: ReadonlyArray<Reason>
}

/** Returns the triggers that have the change, or why there is none. An unreachable server may have a part of it. */
export const select = (found: ReadonlyArray<TriggerReply>, routing: DepotChange): Selected | RoutedEvent => {
  const matching = narrow(
    found.flatMap((one) => (one._tag === "Found" ? [one] : [])),
    routing
  )
  const [first] = matching
  if (first === undefined) return whyNot(found, routing)
  const failures = found.flatMap((one) =>
    one._tag === "Failed" && isSameServer(one.trigger, first.trigger, routing) ? [one] : []
  )
  const outage = failures.find(({ isOutage }) => isOutage)
  if (outage !== undefined) return { _tag: "Waiting", reason: outage.reason, isOutage: true }
  if (matching.length === 1 || isOneServer(matching)) {
    const reasons = routing.repository === undefined ? failures.map(({ reason }) => reason) : []
    return { _tag: "Selected", matching, failures: reasons }
  }
  return settled("skipped", {
    _tag: routing.vcs === "perforce" ? "SeveralHaveChangelist" : "SeveralHaveRevision",
    names: matching.map(({ trigger }) => trigger.name),
    revision: routing.revision
  })
}

/** Triggers of one Perforce server that watch different branches all take their part of a changelist. */
const isOneServer = (matching: ReadonlyArray<Found>): boolean => {
  const ports = new Set(matching.map(({ trigger }) => trigger.settings.port))
  const branches = matching.flatMap(({ submitted }) => submitted.streams.map(({ branch }) => branch))
  return (
    matching.every(({ trigger }) => trigger.kind === "perforce") &&
    ports.size === 1 &&
    new Set(branches).size === branches.length
  )
}

/** A reported URL or depot path has to be the one of the trigger, or around or below it. */
const mayHave = ({ settings }: TriggerProfile, { path, repository, vcs }: DepotChange): boolean => {
  if (vcs === "perforce") {
    return (
      path === undefined || settings.depot_path === undefined || isNested(folderOf(settings.depot_path), folderOf(path))
    )
  }
  return repository === undefined || !repository.includes("://") || isNested(settings.repository_url ?? "", repository)
}

export interface Found {
  readonly _tag: "Found"
  readonly trigger: TriggerProfile
  readonly submitted: SubmittedChange
}

export type TriggerReply =
  | Found
  | { readonly _tag: "Absent" }
  | {
      readonly _tag: "Failed"
      readonly trigger: TriggerProfile
      readonly reason: Reason
      readonly isOutage: boolean
    }

type FailedReply = Extract<TriggerReply, { readonly _tag: "Failed" }>

export const toFailed = (trigger: TriggerProfile, { reason, why }: CheckoutError): FailedReply => ({
  _tag: "Failed",
  trigger,
  reason: { _tag: "ServerFailed", failure: reason, trigger: trigger.name, reason: why },
  isOutage: reason === "unreachable" || reason === "disk"
})

/** `why`: undefined if the credentials of the trigger are on other nodes. */
export const toUnreadable = (trigger: TriggerProfile, why: Reason | undefined): FailedReply => ({
  _tag: "Failed",
  trigger,
  reason: { _tag: "ServerNotReadable", reason: why ?? { _tag: "OwnerTrigger", trigger: trigger.name } },
  isOutage: false
})

/** Selects the repository of the report: by its UUID, by the changed paths, and if several remain, by the author. */
const narrow = <A extends { readonly submitted: SubmittedChange }>(
  found: ReadonlyArray<A>,
  { repository, user }: DepotChange
): ReadonlyArray<A> => {
  const named =
    repository === undefined || repository.includes("://")
      ? found
      : found.filter(({ submitted }) => submitted.repository === repository)
  const changed = named.filter(({ submitted }) => submitted.streams.length > 0)
  const same = changed.length > 0 ? changed : named.slice(0, 1)
  return same.length > 1 && user !== undefined ? same.filter(({ submitted }) => submitted.author === user) : same
}

export const whyNot = (found: ReadonlyArray<TriggerReply>, { revision, vcs }: DepotChange): RoutedEvent => {
  const failures = found.flatMap((one) => (one._tag === "Failed" ? [one] : []))
  const [failure] = failures.toSorted((a, b) => Number(b.isOutage) - Number(a.isOutage))
  if (failure === undefined) {
    const reason = {
      _tag: vcs === "perforce" ? "ReportedChangelistUnknown" : "ReportedRevisionUnknown",
      revision
    } as const
    return { _tag: "Waiting", reason, isOutage: false }
  }
  return failure.isOutage
    ? { _tag: "Waiting", reason: failure.reason, isOutage: true }
    : settled("failed", failure.reason)
}
