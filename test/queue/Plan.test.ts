import { describe, expect, it } from "vitest"
import { Priority } from "../../src/domain/Entry.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { plan } from "../../src/queue/Plan.ts"
import type { Scheduled, QueueSnapshot } from "../../src/queue/Plan.ts"

let serial = 0
const entry = (over: Partial<Scheduled> = {}): Scheduled => {
  serial += 1
  const id = over.id ?? `e${String(serial).padStart(3, "0")}`
  return {
    id,
    status: "waiting",
    targetKey: TargetKey.make(`target-of-${id}`),
    repo: "team/app",
    priority: 10,
    admittedAt: serial,
    dueAt: 0,
    awaitsModel: false,
    ...over
  }
}
const reply = (over: Partial<Scheduled> = {}) => entry({ priority: Priority.reply, ...over })
const out = (status: "ready" | "running", id?: string) => entry(id === undefined ? { status } : { status, id })
const awaiting = (count: number) => Array.from({ length: count }, () => entry({ status: "running", awaitsModel: true }))

describe("plan", () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly survey: Partial<QueueSnapshot>
    readonly concurrency: number
    /** Default: none. */
    readonly awaiting?: number
    /** Limit of replies. Default: none. */
    readonly replies?: number
    readonly turns?: ReadonlyArray<readonly [string, number]>
    readonly release?: ReadonlyArray<string>
    readonly withdraw?: ReadonlyArray<string>
    readonly nextAt?: number
  }> = [
    { name: "nothing waits", survey: {}, concurrency: 1 },
    { name: "what is due goes", survey: { eligible: [entry({ id: "a" })] }, concurrency: 1, release: ["a"] },
    { name: "what is not due sets the alarm", survey: { nextAt: 200 }, concurrency: 1, nextAt: 200 },
    {
      name: "ready and running entries use up the places",
      survey: { inFlight: [out("running"), out("ready")], eligible: [entry({ id: "a" }), entry({ id: "b" })] },
      concurrency: 3,
      release: ["a"]
    },
    {
      name: "a limit that was lowered releases nothing",
      survey: { inFlight: [out("running"), out("running")], eligible: [entry()] },
      concurrency: 1
    },
    {
      name: "two due entries of one target: one at a time",
      survey: {
        eligible: [
          entry({ id: "a", targetKey: TargetKey.make("same") }),
          entry({ id: "b", targetKey: TargetKey.make("same") })
        ]
      },
      concurrency: 9,
      release: ["a"]
    },
    {
      name: "commands before pull requests before automatic work",
      survey: {
        eligible: [entry({ id: "auto", priority: 20 }), entry({ id: "pull" }), entry({ id: "command", priority: 0 })]
      },
      concurrency: 3,
      release: ["command", "pull", "auto"]
    },
    {
      name: "repositories take turns within one decision",
      survey: {
        eligible: [
          entry({ id: "busy1", repo: "x/busy", admittedAt: 1 }),
          entry({ id: "busy2", repo: "x/busy", admittedAt: 2 }),
          entry({ id: "busy3", repo: "x/busy", admittedAt: 3 }),
          entry({ id: "calm", repo: "x/calm", admittedAt: 4 })
        ]
      },
      concurrency: 3,
      release: ["busy1", "calm", "busy2"]
    },
    {
      name: "repositories take turns from decision to decision: the one that was served the longest ago is first",
      survey: {
        eligible: [
          entry({ id: "busy", repo: "x/busy", admittedAt: 1 }),
          entry({ id: "calm", repo: "x/calm", admittedAt: 4 }),
          entry({ id: "idle", repo: "x/idle", admittedAt: 5 })
        ]
      },
      concurrency: 2,
      turns: [
        ["x/busy", 7],
        ["x/calm", 3]
      ],
      release: ["idle", "calm"]
    },
    {
      name: "urgency counts more than turns",
      survey: {
        eligible: [
          entry({ id: "calm", repo: "x/calm", priority: 20 }),
          entry({ id: "busy", repo: "x/busy", priority: 0 })
        ]
      },
      concurrency: 1,
      turns: [["x/busy", 7]],
      release: ["busy"]
    },
    {
      name: "admission order within a repository",
      survey: { eligible: [entry({ id: "late", admittedAt: 9 }), entry({ id: "early", admittedAt: 1 })] },
      concurrency: 1,
      release: ["early"]
    },
    {
      name: "a paused workspace starts nothing and takes its tickets back",
      survey: { paused: true, inFlight: [out("running"), out("ready", "taken")], eligible: [entry()], nextAt: 500 },
      concurrency: 9,
      withdraw: ["taken"]
    },
    {
      name: "entries that await their models take no slot",
      survey: { inFlight: [out("running"), ...awaiting(2)], eligible: [entry({ id: "a" }), entry({ id: "b" })] },
      concurrency: 2,
      awaiting: 3,
      release: ["a"]
    },
    {
      name: "a limit of its own for entries that await their models",
      survey: { inFlight: awaiting(4), eligible: [entry({ id: "a" }), entry({ id: "b" }), entry({ id: "c" })] },
      concurrency: 2,
      awaiting: 3,
      release: ["a"]
    },
    {
      name: "no place for entries that await their models: they count like others",
      survey: { inFlight: awaiting(1), eligible: [entry({ id: "a" })] },
      concurrency: 1,
      awaiting: 0
    },
    {
      name: "a reply goes while reviews take all slots",
      survey: { inFlight: [out("running")], eligible: [entry({ id: "review" }), reply({ id: "reply" })] },
      concurrency: 1,
      replies: 1,
      release: ["reply"]
    },
    {
      name: "a review goes while replies take all of theirs",
      survey: {
        inFlight: [reply({ status: "running" }), reply({ status: "running", awaitsModel: true })],
        eligible: [entry({ id: "review" }), reply()]
      },
      concurrency: 1,
      replies: 2,
      release: ["review"]
    },
    {
      name: "replies first, each kind up to its limit",
      survey: { eligible: [entry({ id: "a" }), entry({ id: "b" }), reply({ id: "c" }), reply({ id: "d" })] },
      concurrency: 1,
      replies: 1,
      release: ["c", "a"]
    }
  ]
  it.each(cases)(
    "$name",
    ({ survey, concurrency, awaiting: most = 0, replies = 0, turns = [], release = [], withdraw = [], nextAt }) => {
      const given = { paused: false, inFlight: [], eligible: [], nextAt: undefined, ...survey }
      const planned = plan(given, { computing: concurrency, awaiting: most, replies }, new Map(turns))
      expect(planned.promote.map(({ id }) => id)).toEqual(release)
      expect(planned.demote.map(({ id }) => id)).toEqual(withdraw)
      expect(planned.nextAt).toBe(nextAt)
    }
  )
})
