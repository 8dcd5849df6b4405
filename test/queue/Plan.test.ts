import { describe, expect, it } from "vitest"
import type { Entry } from "../../src/domain/Entry.ts"
import { plan } from "../../src/queue/Plan.ts"

let serial = 0
const entry = (over: Partial<Entry> & { readonly repo?: string } = {}): Entry => {
  const id = over.id ?? `e${String(++serial).padStart(3, "0")}`
  const repo = over.repo ?? "team/app"
  return {
    id,
    workspace: "w",
    targetKey: over.targetKey ?? `t:${repo}:pull_request:${id}`,
    change: {
      provider: "gitea",
      trigger: "t",
      workspace: "w",
      repo: { fullName: repo },
      target: { kind: "pull_request", number: serial }
    },
    configHash: "h",
    priority: 10,
    status: "waiting",
    events: [],
    admittedAt: serial,
    dueAt: 0,
    attempts: 0,
    token: 0,
    ...over
  }
}

describe("plan", () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly entries: ReadonlyArray<Entry>
    readonly concurrency: number
    readonly release: ReadonlyArray<string>
    readonly nextAt?: number
  }> = [
    { name: "nothing waits", entries: [], concurrency: 1, release: [] },
    { name: "what is due goes", entries: [entry({ id: "a", dueAt: 100 })], concurrency: 1, release: ["a"] },
    {
      name: "what is not due sets the alarm",
      entries: [entry({ id: "a", dueAt: 300 }), entry({ id: "b", dueAt: 200 })],
      concurrency: 1,
      release: [],
      nextAt: 200
    },
    {
      name: "ready and running entries use up the limit",
      entries: [entry({ status: "running" }), entry({ status: "ready" }), entry({ id: "a" }), entry({ id: "b" })],
      concurrency: 3,
      release: ["a"]
    },
    {
      name: "a limit that was lowered releases nothing",
      entries: [entry({ status: "running" }), entry({ status: "running" }), entry({ id: "a" })],
      concurrency: 1,
      release: []
    },
    {
      name: "a target that runs is not started twice, and sets no alarm",
      entries: [
        entry({ status: "running", targetKey: "same" }),
        entry({ id: "a", targetKey: "same" }),
        entry({ targetKey: "same", dueAt: 500 })
      ],
      concurrency: 9,
      release: []
    },
    {
      name: "two waiting entries of one target: one at a time",
      entries: [entry({ id: "a", targetKey: "same" }), entry({ id: "b", targetKey: "same" })],
      concurrency: 9,
      release: ["a"]
    },
    {
      name: "commands before pull requests before automatic work",
      entries: [entry({ id: "auto", priority: 20 }), entry({ id: "pull" }), entry({ id: "command", priority: 0 })],
      concurrency: 3,
      release: ["command", "pull", "auto"]
    },
    {
      name: "repositories take turns",
      entries: [
        entry({ id: "busy1", repo: "x/busy", admittedAt: 1 }),
        entry({ id: "busy2", repo: "x/Busy", admittedAt: 2 }),
        entry({ id: "busy3", repo: "x/busy", admittedAt: 3 }),
        entry({ id: "calm", repo: "x/calm", admittedAt: 4 })
      ],
      concurrency: 2,
      release: ["busy1", "calm"]
    },
    {
      name: "admission order within a repository",
      entries: [entry({ id: "late", admittedAt: 9 }), entry({ id: "early", admittedAt: 1 })],
      concurrency: 1,
      release: ["early"]
    }
  ]
  it.each(cases)("$name", ({ entries, concurrency, release, nextAt }) => {
    expect(plan(entries, concurrency, 100)).toEqual({ release, nextAt })
  })
})
