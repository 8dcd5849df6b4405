/** Warnings about the nodes of a cluster. */
import { expect, it } from "vitest"
import { listWarnings } from "../../src/cli/NodesCommand.ts"

const node = (name: string, configuration = "a04e288153d7") => ({ name, version: "0.1.0", configuration })

it("warns about no nodes and about different configurations, and about nothing else", () => {
  expect(listWarnings([])).toEqual([expect.stringContaining("no node is connected; start nodes with the SVC_NATS_URL")])
  expect(listWarnings([node("a"), node("b")])).toEqual([])
  expect(listWarnings([node("a"), node("b", "496d9d51e2a0")])).toEqual([expect.stringContaining("configurations")])
})
