/** Warnings about the nodes of a cluster. */
import { expect, it } from "vitest"
import { listWarnings } from "../../src/cli/NodesCommand.ts"

const node = (name: string, configuration = "a04e288153d7") => ({
  name,
  version: "0.1.0",
  configuration,
  roles: ["ingress"],
  needs: ["ingress"],
  refusedTemplates: []
})

it("warns about no nodes, different configurations and roles without a node, and about nothing else", () => {
  expect(listWarnings([])).toEqual([expect.stringContaining("no node is connected; start nodes with the SVC_NATS_URL")])
  expect(listWarnings([node("a"), node("b")])).toEqual([])
  expect(listWarnings([node("a"), node("b", "496d9d51e2a0")])).toEqual([expect.stringContaining("configurations")])
  expect(listWarnings([{ ...node("a"), needs: ["chat"] }])).toEqual([
    "no node has the role chat: commands in chat are not taken, and long connections are not opened; start one with --roles chat"
  ])
})
