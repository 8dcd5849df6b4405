/** Nodes: what each one runs, what is wrong with it, and who may drain it. */
import { describe, expect, it } from "vitest"
import type { Item, Output } from "../../../src/dashboard/client/Endpoints.ts"
import { renderPage } from "../RenderPage.ts"
import { hoursAgo, node, queue } from "../Samples.ts"

type NodeItem = Item<"GET /nodes">

const render = (
  items: ReadonlyArray<NodeItem>,
  fields: Partial<Output<"GET /nodes">> = {},
  options: Parameters<typeof renderPage>[2] = {}
) => renderPage("/nodes", { "GET /nodes": { items, warnings: [], ...fields }, "GET /queue": queue([]) }, options)

describe("a node", () => {
  it("has its roles, its slots, its memory and its lag with units", async () => {
    const { text } = await render([node({ memory_bytes: 157_286_400, lag_millis: 1250 })])
    expect(text).toContain("node-1 active ingress, executor 0.1.0 abc123 1 of 4 150 MiB 1.3 s")
    expect(text).toContain("5h ago")
  })

  it("without an executor and without measurements has dashes", async () => {
    const { slots: _, ...least } = node({ running: 0 })
    for (const one of [least, node({ slots: 0 })]) {
      const { text } = await render([one])
      expect(text).toContain("abc123 – – – –")
    }
  })

  it.each([
    [{ source: "file", name: "aicr.yaml", errors: 2, line: 7 }, "aicr.yaml:7"],
    [{ source: "file", name: "aicr.yaml", errors: 2 }, "aicr.yaml"],
    [{ source: "revision", name: "12", errors: 1 }, "12"]
  ] as const)("names the configuration that it refuses: %s", async (refused, name) => {
    const { elements } = await render([node({ refused: [refused] })])
    const [error] = elements("p").filter((one) => one.attribute("class") === "error-text")
    expect(error?.text).toContain(name)
    expect(error?.text).toContain(String(refused.errors))
  })

  it("that differs from others is marked where it differs", async () => {
    expect((await render([node()])).text).not.toContain("differs")
    const { elements } = await render([node({ differs: ["version"] })])
    const cells = elements("td").filter((one) => one.text.includes("differs"))
    expect(cells.map((one) => one.text.split(" ")[0])).toEqual(["0.1.0"])
  })

  it("links its last error to the run that has the details", async () => {
    const at = hoursAgo(1)
    const { links, text } = await render([
      node({ last_error: { at, message: "<b>disk full</b>", run_id: "r9" } }),
      node({ name: "node-2", last_error: { at, message: "no run" } })
    ])
    expect(links).toContainEqual({ text: "<b>disk full</b>", href: "/runs/r9" })
    expect(text).toContain("no run")
  })

  it("that is drained is resumed, others are drained", async () => {
    const pauses = [{ scope: "node", name: "node-1", reason: { _tag: "Text", text: "x" }, since: hoursAgo(1) }] as const
    const { buttons, states } = await renderPage("/nodes", {
      "GET /nodes": { items: [node(), node({ name: "node-2" })], warnings: [] },
      "GET /queue": queue([], { pauses })
    })
    expect(states).toEqual(["warn paused", "good active"])
    expect(buttons.map(({ text }) => text)).toEqual(["Resume", "Drain"])
  })
})

it("a viewer may not drain a node, an operator may", async () => {
  const disabled = async (role: "viewer" | "operator") =>
    (await render([node()], {}, { role })).buttons.map(({ isDisabled }) => isDisabled)
  expect(await disabled("viewer")).toEqual([true])
  expect(await disabled("operator")).toEqual([false])
})

it("warnings about all nodes are sentences of one note", async () => {
  const warnings = [
    { _tag: "Text", text: "No node serves chat" },
    { _tag: "Text", text: "Two versions run" }
  ] as const
  expect((await render([node()], { warnings })).text).toContain("No node serves chat. Two versions run")
})
