/** The short form of `npm run soak -- chaos`: a few faults one after another, on nodes with every role. */
import { expect, it } from "vitest"
import { chaos } from "../soak/chaos/Chaos.ts"

it("changes flow through a killed node, a NATS without its data and a new workspace: each is reviewed and paid for once", async () => {
  const said: Array<string> = []
  const { wrong } = await chaos(
    {
      shape: "equal",
      faults: ["a node that reviews is killed", "NATS loses its data", "a workspace is added to the configuration"],
      seed: 1,
      changes: 9,
      repositories: 4,
      lastsMillis: 3000,
      settleMillis: 120_000
    },
    (line) => said.push(line)
  )
  if (wrong.length > 0) process.stderr.write(`${said.join("\n")}\n`)
  expect(wrong).toEqual([])
}, 300_000)
