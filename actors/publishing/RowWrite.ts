/**
 * The checks of a row right before each of its writes to the host.
 *
 * The status of a commit is the worst of the last verdicts of all pull requests and base branches with this head (domain/HeadVerdict.ts). Several
 * publishers may write it, one for each pull request, on several nodes. Guarantee: the status that is written last is the worst of all
 * verdicts that were recorded before, and no write makes a commit green while a worse verdict is on record, or a change with this head waits
 * for its first review into its base branch.
 *
 * - A verdict is recorded before it is sent: `pending` when the review begins, or when its entry is queued if the head was reviewed before, the result together with its row. A crash between the record
 *   and the write leaves the row, which is sent later. Until then the record counts for the statuses that other publishers write.
 * - One publisher at a time writes the status of a commit: `startStatus` moves its row to `sending` only while no other row of the commit
 *   is. Then the records are read, right before the request. If they demand another status than the one to be sent, nothing is sent, and the
 *   row is sent again with the demanded one.
 * - A process that dies while it writes leaves its row in `sending`, which the next publisher of the target repeats with the records of then.
 *   The others wait for it.
 * - An app writes the status as a check run, whose id the records have (`Outbox.writtenStatus`). They are read together with the verdicts, so that
 *   a commit has one check that is not completed.
 * - The exception is a process that is frozen after these checks, right before its request, for so long that its target is taken over and the
 *   others have written. When it continues, it adds a row that writes the status once more.
 */
import { Effect, Equal } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { hostTrigger } from "../../src/domain/Change.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { WrittenRecords } from "../../src/forge/WriteOwner.ts"
import type { Outputs } from "../../src/outputs/Outputs.ts"
import type { Queue } from "../../src/queue/Queue.ts"
import type { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { currentStatus, readObjection } from "./HeadStatus.ts"
import { storeFailed, takenOver } from "./TargetHold.ts"
import type { TargetHold } from "./TargetHold.ts"

/** Never recorded: the check rejects the write before it is sent. */
const rejected = (why: Reason) => Effect.fail(new ForgeError({ reason: "conflict", operation: "publish", why }))

/** Services of the checks. */
export type WriteServices = ConfigStore | Outputs | Queue | Runs

/** Returns the status of the row before it is sent. */
export const openStatus = ({ status }: Publication): "pending" | "unknown" =>
  status === "unknown" ? "unknown" : "pending"

/** Records of a commit without a status. */
const nothingWritten: WrittenRecords = { hostIds: [], isCertain: true }

const writesChecks = ({ change }: Run, { triggers }: Snapshot): boolean =>
  triggers.get(hostTrigger(change))?.settings.app !== undefined

export class RowWrite {
  readonly #hold: TargetHold
  readonly #run: Run
  readonly #snapshot: Snapshot
  readonly #row: Publication
  /** The row with the status that the records demanded when they were read last. */
  #sending: Publication
  #isChanged = false
  #isHeld = false
  #isBegun = false
  #isBusy = false
  #written: WrittenRecords | undefined
  #objection: Reason | undefined

  constructor(hold: TargetHold, run: Run, snapshot: Snapshot, row: Publication) {
    this.#hold = hold
    this.#run = run
    this.#snapshot = snapshot
    this.#row = row
    this.#sending = row
    this.#written = writesChecks(run, snapshot) && row.operation._tag === "Status" ? nothingWritten : undefined
  }

  /** The records about the status of the commit; undefined where it has no id that matters. */
  get written(): WrittenRecords | undefined {
    return this.#written
  }

  /** True if a write may have reached the host. */
  get isBegun(): boolean {
    return this.#isBegun
  }

  /** True if another publisher writes the status of the commit now. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Reason for which the row must not be sent. */
  get objection(): Reason | undefined {
    return this.#objection
  }

  /** The row to send. */
  get row(): Publication {
    return this.#sending
  }

  /** True if the row shows the verdict of another pull request or base branch, and no summary of its own. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Returns whether nothing was sent because the records demand another status, and prepares for sending that one. */
  takeChange(): boolean {
    const isChanged = this.#isChanged
    this.#isChanged = false
    return isChanged
  }

  /** Runs before every write. The row is `sending` only from right before the first one, and not while the host is read. */
  readonly fence: Effect.Effect<void, ForgeError, WriteServices> = Effect.suspend(() =>
    Effect.andThen(this.#isBegun ? this.#hold.fence : this.#begin, this.#compare)
  )

  /** Rejects the end of a request for changes while the same commit is not clean elsewhere. Runs before writes that people read. */
  readonly guard: Effect.Effect<void, ForgeError, ConfigStore | Runs> = Effect.suspend(() => {
    if (this.#row.operation._tag !== "Verdict" || this.#isBegun) return Effect.void
    return Effect.flatMap(Effect.mapError(readObjection(this.#run, this.#snapshot), storeFailed), (objection) => {
      this.#objection = objection
      return objection === undefined ? Effect.void : rejected(objection)
    })
  })

  readonly #begin: Effect.Effect<void, ForgeError> = Effect.suspend(() => {
    const from = openStatus(this.#row)
    const start =
      this.#row.operation._tag === "Status"
        ? this.#hold.startStatus(this.#row, from)
        : Effect.map(this.#hold.move(this.#row, from, { status: "sending" }), (moved) => (moved ? "started" : "lost"))
    return Effect.flatMap(Effect.mapError(start, storeFailed), (started) => {
      this.#isBegun = started === "started"
      this.#isBusy = started === "busy"
      if (this.#isBusy) return rejected({ _tag: "OtherPublisherWrites" })
      return this.#isBegun ? Effect.void : takenOver
    })
  })

  /** Rejects a status that differs from the one that the records demand. */
  readonly #compare: Effect.Effect<void, ForgeError, WriteServices> = Effect.suspend(() => {
    const { operation: planned } = this.#row
    const { operation: sending } = this.#sending
    if (planned._tag !== "Status" || sending._tag !== "Status") return Effect.void
    const read = Effect.zip(currentStatus(this.#run, this.#snapshot, planned), this.#readWritten(planned.head))
    return Effect.flatMap(Effect.mapError(read, storeFailed), ([{ isHeld, status }, written]) => {
      const isCurrent = status.state === sending.state && Equal.equals(status.description, sending.description)
      if (isCurrent && Equal.equals(written, this.#written)) return Effect.void
      this.#sending = { ...this.#row, operation: status }
      this.#written = written
      this.#isHeld = isHeld
      this.#isChanged = true
      return rejected({ _tag: "StatusChanged" })
    })
  })

  /** Reads what the records contain about the status of the commit. An earlier attempt may have written without being recorded. */
  #readWritten(head: string): Effect.Effect<WrittenRecords | undefined, StoreError> {
    if (this.#written === undefined) return Effect.undefined
    const { attempts, status } = this.#row
    return Effect.map(this.#hold.writtenStatus(this.#row, head), (written) => ({
      ...written,
      isCertain: written.isCertain && attempts === 0 && status !== "unknown"
    }))
  }
}
