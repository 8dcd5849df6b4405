/** Errors of the service end commands with the codes of one table. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { AgentError } from "../../src/agent/Agent.ts"
import { ExitWith } from "../../src/cli/Exit.ts"
import { codeByTag, endWithCode } from "../../src/cli/ExitCodes.ts"
import type { CommandError } from "../../src/cli/ExitCodes.ts"
import { ConfigInvalid } from "../../src/config/LoadConfig.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { NotReplayable } from "../../src/engine/ReplayRun.ts"
import { QueueError } from "../../src/queue/Queue.ts"

const errors: ReadonlyArray<readonly [CommandError, number]> = [
  [ConfigInvalid.of([{ severity: "error", path: "queue.kind", reason: verbatimReason("unknown") }]), 2],
  [new NotReplayable({ message: "run 1 not found" }), 2],
  [new StoreError({ reason: "unavailable", operation: "open", why: verbatimReason("the disk is full") }), 3],
  [new QueueError({ reason: "unavailable", why: verbatimReason("Redis is unreachable") }), 3],
  [new AgentError({ reason: "failed", why: verbatimReason("no model is left") }), 3],
  [new ExitWith({ code: 1, message: "3 problems" }), 1]
]

it.each(errors.map(([error, code]) => [error._tag, code, error] as const))("%s: %i", async (_tag, code, error) => {
  const end = await Effect.runPromise(Effect.flip(endWithCode(Effect.fail(error))))
  expect([end.code, end.message]).toEqual([code, error.message])
})

it("every code of the table is one that commands document", () => {
  expect([...new Set(Object.values(codeByTag))].toSorted()).toEqual([2, 3])
})

it("wiring maps no error by itself", () => {
  const files = ["src/app", "demo"].flatMap((folder) => {
    const path = join(import.meta.dirname, "../..", folder)
    return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
  })
  const own = files.filter(
    (file) => file.endsWith(".ts") && /catchTags?\([^)]*\([^)]*\) => new ExitWith/.test(readFileSync(file, "utf8"))
  )
  expect(own).toEqual([])
})
