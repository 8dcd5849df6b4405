/** Statuses of commits whose review ended without a result. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endStatuses } from "../../../actors/upkeep/AbandonedRuns.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { afterEveryLease, LeaseToken } from "../../../src/domain/FencingToken.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { change } from "../../store/Fixtures.ts"

layer(actorStores())("the status of a failed review", (it) => {
  it.effect("ends behind more skipped reviews than a sweep reads", () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const outbox = yield* Outbox
      const begin = Effect.fnUntraced(function* (number: number, to: "failed" | "skipped", now: number) {
        const of = { ...change(), target: { kind: "pull_request" as const, number }, head: `h${number}` }
        const begun = {
          entryId: newId(),
          workspace: "w",
          targetKey: targetKey(of),
          change: of,
          head: of.head,
          base: "b",
          configHash: "c"
        }
        const run = yield* runs.begin(begun, LeaseToken.make(1), now)
        assert(run !== undefined)
        yield* runs.move(run.id, afterEveryLease, to, now, { _tag: "ProcessLost" }, undefined)
        return run
      })
      const failed = yield* begin(1, "failed", 3)
      const operation = {
        _tag: "Status",
        head: failed.head,
        state: "pending",
        description: verbatimReason("Review in progress")
      } as const
      const row = {
        id: newId(),
        operationId: OperationId.make(newId()),
        runId: failed.id,
        targetKey: failed.targetKey,
        channel: "commit_status"
      }
      yield* outbox.add([{ ...row, operation, status: "pending", position: 0, attempts: 0 }], 3)
      for (let number = 2; number < 2003; number++) yield* begin(number, "skipped", 1)
      yield* endStatuses(4, 2)
      const states = (yield* outbox.ofRun(failed.id)).map((one) =>
        one.operation._tag === "Status" ? one.operation.state : ""
      )
      assert.deepStrictEqual(states, ["pending", "failure"])
    })
  )
})
