import { describe, expect, it } from "vitest"
import { listPaused, listResumed } from "../../actors/ResumeWatch.ts"
import type { Pause } from "../../src/queue/operator/QueueControl.ts"

const pause = (name: string, scope: Pause["scope"] = "workspace"): Pause => ({ scope, name, reason: "r", since: 0 })

describe("listResumed", () => {
  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<Pause>, ReadonlyArray<string>]>([
    ["a workspace whose pause ended", ["app"], [], ["app"]],
    ["none while it is paused", ["app"], [pause("app")], []],
    ["none that was paused since the last scan", [], [pause("app")], []],
    ["the resumed one of several", ["app", "web"], [pause("web")], ["app"]],
    ["a workspace, although a node with its name is paused", ["app"], [pause("app", "node")], ["app"]]
  ])("returns %s", (_, before, pauses, resumed) => {
    expect(listResumed(new Set(before), pauses)).toEqual(resumed)
  })
})

it("lists paused workspaces without nodes", () => {
  expect([...listPaused([pause("app"), pause("one", "node")])]).toEqual(["app"])
})
