/**
 * The queue as a list that is searched from the front each time: slow, small, and written from the contract (queue/Queue.ts),
 * not from the transitions. Stores are compared with it.
 */
import { isReply, maxLosses } from "../../src/domain/Entry.ts"
import type { EntryStatus } from "../../src/domain/Entry.ts"
import type { QueueSnapshot } from "../../src/queue/Plan.ts"
import type { QueueAdmission, Finish } from "../../src/queue/Queue.ts"
import { targetKey } from "../../src/domain/Change.ts"

/** Returns whether the entry is due, or was at admission. */
const isDue = ({ admittedAt, dueAt }: ModelEntry, now: number): boolean =>
  Math.min(dueAt - admittedAt, dueAt - now) <= 0

export interface ModelEntry {
  id: string
  target: string
  workspace: string
  head: string | undefined
  baseRef: string | undefined
  requestedBy: string | undefined
  status: EntryStatus
  events: Array<string>
  priority: number
  admittedAt: number
  dueAt: number
  attempts: number
  losses: number
  expires: boolean
  cancelRequested: string | undefined
  awaitsModel: boolean
  token: number
  leaseUntil: number | undefined
  owner: string | undefined
}

export class QueueModel {
  readonly entries: Array<ModelEntry> = []
  readonly paused = new Set<string>()
  private next = 0

  /** Admits an item. Returns the entry that settles the event, and how. New entries are called `new:<n>` until the store names them. */
  admit(item: QueueAdmission): {
    readonly entry: ModelEntry
    readonly status: string
    readonly superseded: Array<string>
  } {
    const known = this.entries.find((entry) => entry.events.includes(item.eventId))
    if (known !== undefined) {
      return { entry: known, status: "duplicate", superseded: known.status === "superseded" ? [item.eventId] : [] }
    }
    const target = targetKey(item.change)
    const { baseRef, head, requestedBy } = item.change
    const expires = item.expires ?? item.priority >= 20
    const waits = this.waiting(target)
    const runs = this.entries.find(
      (entry) => entry.target === target && entry.status === "running" && entry.cancelRequested === undefined
    )
    const isOther = (entry: ModelEntry) => Boolean(entry.baseRef && baseRef && entry.baseRef !== baseRef)
    const exact = [waits, runs].find(
      (entry) => entry !== undefined && entry.head === head && !isOther(entry) && (head || entry === waits)
    )
    const joined = exact ?? (waits !== undefined && (!waits.head || !head) ? waits : undefined)
    if (joined !== undefined) {
      joined.events.push(item.eventId)
      if (joined === waits) {
        if (joined.attempts === 0 || requestedBy !== undefined) joined.dueAt = Math.min(joined.dueAt, item.dueAt)
        joined.expires &&= expires
        joined.priority = Math.min(joined.priority, item.priority)
        if (joined.head === undefined) joined.baseRef = baseRef
        joined.head ??= head
        joined.requestedBy = this.higher(joined.requestedBy, requestedBy)
      }
      return { entry: joined, status: "coalesced", superseded: [] }
    }
    const entry: ModelEntry = {
      id: `new:${this.next++}`,
      target,
      workspace: item.change.workspace,
      head,
      baseRef,
      requestedBy,
      status: "waiting",
      events: [item.eventId],
      priority: item.priority,
      admittedAt: item.admittedAt,
      dueAt: item.dueAt,
      attempts: 0,
      losses: 0,
      expires,
      cancelRequested: undefined,
      awaitsModel: false,
      token: 0,
      leaseUntil: undefined,
      owner: undefined
    }
    if (waits !== undefined) {
      waits.status = "superseded"
      this.inherit(entry, waits)
      entry.dueAt = Math.min(entry.dueAt, waits.dueAt)
      if (waits.requestedBy !== undefined) entry.events.unshift(...waits.events.splice(0))
    }
    this.entries.push(entry)
    const status = entry.dueAt > item.admittedAt ? "deferred" : "queued"
    return { entry, status, superseded: waits?.events ?? [] }
  }

  release(entry: ModelEntry, now: number): boolean {
    const free = !this.entries.some((other) => other.target === entry.target && other.status === "running")
    return this.move(entry, "waiting", "ready", free && isDue(entry, now))
  }

  withdraw(entry: ModelEntry): void {
    this.move(entry, "ready", "waiting", true)
  }

  claim(entry: ModelEntry, owner: string, until: number): boolean {
    if (!this.move(entry, "ready", "running", true)) return false
    Object.assign(entry, { owner, leaseUntil: until, token: entry.token + 1 })
    return true
  }

  renew(entry: ModelEntry, token: number, until: number): string {
    if (entry.status !== "running" || entry.token !== token) return "Lost"
    entry.leaseUntil = until
    return entry.cancelRequested === undefined ? "Kept" : `Cancelled ${entry.cancelRequested}`
  }

  awaitModel(entry: ModelEntry, token: number): boolean {
    const isHeld = entry.status === "running" && entry.token === token
    if (isHeld) entry.awaitsModel = true
    return isHeld
  }

  finish(entry: ModelEntry, token: number, how: Finish): boolean {
    if (entry.status !== "running" || entry.token !== token) return false
    if (how._tag === "Retry") {
      if (how.counted) entry.attempts += 1
      this.waitAgain(entry, how.dueAt)
      return true
    }
    entry.status = ({ Done: "done", Dead: "dead", Cancelled: "cancelled" } as const)[how._tag]
    if (how._tag !== "Cancelled") entry.attempts += 1
    Object.assign(entry, { owner: undefined, leaseUntil: undefined, cancelRequested: undefined, awaitsModel: false })
    return true
  }

  reclaim(now: number, lost: (owner: string) => boolean): Array<ModelEntry> {
    const gone = this.entries.filter(
      (entry) => entry.status === "running" && ((entry.leaseUntil ?? 0) <= now || lost(entry.owner ?? ""))
    )
    for (const entry of gone) {
      entry.losses += 1
      if (entry.losses < maxLosses || entry.cancelRequested !== undefined) this.waitAgain(entry, now)
      else Object.assign(entry, { status: "dead", owner: undefined, leaseUntil: undefined, awaitsModel: false })
    }
    return gone
  }

  /** Cancels entries. Returns the ids of ended ones and of those to be ended by their worker. */
  cancel(entries: ReadonlyArray<ModelEntry>, reason: string): ReadonlyArray<ReadonlyArray<string>> {
    const ended = entries.filter((entry) => ["waiting", "ready"].includes(entry.status))
    const stopping = entries.filter((entry) => entry.status === "running")
    for (const entry of ended) entry.status = "cancelled"
    for (const entry of stopping) entry.cancelRequested ??= reason
    return [ended.map(({ id }) => id), stopping.map(({ id }) => id)]
  }

  retry(entry: ModelEntry, now: number): string {
    if (entry.status !== "dead") return "not_dead"
    if (this.waiting(entry.target) !== undefined) return "newer"
    Object.assign(entry, { status: "waiting", dueAt: now, attempts: 0, losses: 0 })
    return "retried"
  }

  /** Returns the input of the plan: ids of entries in flight, of eligible ones by repository and priority, and the next alarm. */
  survey(
    workspace: string,
    now: number
  ): {
    readonly inFlight: ReadonlyArray<string>
    /** Entries of `inFlight` that await their models. */
    readonly awaiting: ReadonlyArray<string>
    readonly nextAt: number | undefined
    readonly eligible: ReadonlyArray<ModelEntry>
  } {
    const here = this.entries.filter((entry) => entry.workspace === workspace)
    const inFlight = here.filter((entry) => entry.status === "ready" || entry.status === "running")
    const waiting = here.filter((entry) => entry.status === "waiting")
    const later = waiting.filter((entry) => !isDue(entry, now)).map((entry) => entry.dueAt)
    return {
      inFlight: inFlight.map(({ id }) => id),
      awaiting: inFlight.flatMap(({ awaitsModel, id }) => (awaitsModel ? [id] : [])),
      nextAt: later.length === 0 ? undefined : Math.min(...later),
      eligible: waiting.filter((entry) => isDue(entry, now) && !inFlight.some((other) => other.target === entry.target))
    }
  }

  /**
   * Returns whether `due` contains all that the plan must see to fill `places`: of each repository and priority the first ones. Replies and
   * reviews have places of their own.
   */
  suffices(eligible: QueueSnapshot["eligible"], expected: ReadonlyArray<ModelEntry>, places: number): boolean {
    const seen = new Set(eligible.map(({ id }) => id))
    return expected.every((entry) => {
      if (seen.has(entry.id)) return true
      const before = expected.filter(
        (other) =>
          other !== entry &&
          isReply(other) === isReply(entry) &&
          (other.priority < entry.priority ||
            (other.priority === entry.priority &&
              (other.admittedAt < entry.admittedAt || (other.admittedAt === entry.admittedAt && other.id < entry.id))))
      )
      return before.length >= places
    })
  }

  expire(before: number): Array<ModelEntry> {
    const old = this.entries.filter((entry) => entry.status === "waiting" && entry.expires && entry.admittedAt < before)
    for (const entry of old) entry.status = "expired"
    return old
  }

  waiting(target: string): ModelEntry | undefined {
    return this.entries.find(
      (entry) => entry.target === target && (entry.status === "waiting" || entry.status === "ready")
    )
  }

  private move(entry: ModelEntry, from: EntryStatus, to: EntryStatus, allowed: boolean): boolean {
    if (entry.status !== from || !allowed) return false
    entry.status = to
    return true
  }

  /** A person of chat before an administrator, both before an account of the host, and the first of equals. */
  private higher(one: string | undefined, other: string | undefined): string | undefined {
    const people = [one, other].filter((person) => person !== undefined)
    const starting = (start: string) => people.find((person) => person.startsWith(start))
    return starting("chat ") ?? starting("administrator ") ?? people[0]
  }

  private inherit(entry: ModelEntry, earlier: ModelEntry): void {
    entry.priority = Math.min(entry.priority, earlier.priority)
    entry.admittedAt = Math.min(entry.admittedAt, earlier.admittedAt)
    entry.expires &&= earlier.expires
    entry.requestedBy = this.higher(entry.requestedBy, earlier.requestedBy)
  }

  private waitAgain(entry: ModelEntry, dueAt: number): void {
    const newer = this.waiting(entry.target)
    const cancelled = entry.cancelRequested !== undefined
    Object.assign(entry, { owner: undefined, leaseUntil: undefined, cancelRequested: undefined, awaitsModel: false })
    if (cancelled) {
      entry.status = "cancelled"
      return
    }
    if (newer === undefined) {
      Object.assign(entry, { status: "waiting", dueAt })
      return
    }
    this.inherit(newer, entry)
    newer.events.push(...entry.events)
    Object.assign(entry, { status: "superseded", events: [] })
  }
}
