/**
 * Nodes that share their queue over JetStream: while changes flow, a node with every role is killed in the middle of its reviews and
 * the server restarts. Every change is reviewed once; an operator's command sees the same queue.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { toFilePath, honest, markedLine, postedOn } from "../harness/Installation.ts"

const root = join(import.meta.dirname, "../..")

it("a node is killed and NATS restarts: every change is reviewed once", async () => {
  await using at = await ClusterInstallation.make({ repositories: 4, slots: 2, queue: "nats" })
  await at.start("one", "all")
  await at.start("two", "all")
  // Both nodes are in the middle of reviews when one of them dies.
  const killed = Promise.withResolvers<void>()
  let asked = 0
  at.model.script(async (request) => {
    asked += 1
    if (asked === 4)
      killed.resolve(
        at
          .node("one")
          .kill()
          .then(() => undefined)
      )
    if (asked <= 4) await killed.promise
    return honest(request)
  })
  const pulls = []
  for (let round = 0; round < 3; round++) {
    for (const [index, repository] of at.repositories.entries()) {
      pulls.push(await at.open(`change-${round}-${index}`, repository))
    }
  }
  const delivered = Promise.all(pulls.slice(0, 8).map((pull) => at.deliver(pull)))
  await killed.promise
  await delivered

  await at.nats.kill()
  await at.nats.start()
  await Promise.all(pulls.slice(8).map((pull) => at.deliver(pull)))
  await at.node("one").start()
  await at.reviewed(pulls, 120_000)
  await at.settled()
  for (const pull of pulls) {
    expect(postedOn(pull)).toEqual({
      reviews: [pull.head],
      comments: [`${toFilePath(pull.headBranch)}:${markedLine}`],
      summaries: 1
    })
  }

  const { stdout } = await promisify(execFile)(
    join(root, "node_modules/.bin/node"),
    [
      "--disable-warning=ExperimentalWarning",
      "src/main.mjs",
      "queue",
      "list",
      "--status",
      "all",
      "--config",
      join(at.directory, "two.yaml")
    ],
    { cwd: root, env: { PATH: process.env["PATH"], ...at.env("operator", "all") } }
  )
  for (const pull of pulls) expect(stdout).toContain(pull.repository.fullName)
}, 300_000)
