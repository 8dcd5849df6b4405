/**
 * Questions and commands in comments at two nodes, both of which get every delivery, and which are killed alternately at the write of a reply: every
 * comment gets one reply, and none is lost. Eight comments and two kills; 1,000 and 40 with AICR_TEST_QUESTIONS=1000.
 */
import { expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const count = Number(process.env["AICR_TEST_QUESTIONS"] ?? 8)
const kills = Math.max(2, count / 25)
/** Comments that are written at the same time. */
const atOnce = 8
const nodes = ["one", "two"]

it(
  `${count} questions and commands at two nodes get one reply each, whichever node dies`,
  async () => {
    const limits = { thread: 1000, person_hour: 10_000, change_day: 10_000 }
    await using at = await ClusterInstallation.make({ repositories: 2, review: { conversation: { limits } } })
    at.model.script((request) =>
      request.text.includes("Write the reply to the last comment")
        ? { calls: [{ name: "reply", input: { outcome: "replied", text: "Because." } }] }
        : honest(request)
    )
    await Promise.all(nodes.map((name) => at.start(name, "all")))
    const pulls = await Promise.all(at.repositories.map((repository, index) => at.open(`p${index}`, repository)))
    for (const pull of pulls) await at.deliver(pull)
    await at.reviewed(pulls, 60_000)
    await at.settled()
    for (const pull of pulls) at.forge.setPermission(pull.repository.fullName, "dana", "write")

    let writes = 0
    const returned: Array<Promise<unknown>> = []
    at.host.onRequest = ({ method, path }) => {
      if (method !== "POST" || !/\/issues\/\d+\/comments$/.test(path)) return undefined
      const isDue = returned.length < kills && writes++ >= returned.length * (count / kills / 2)
      if (!isDue) return undefined
      const node = at.node(nodes[returned.length % nodes.length] ?? "")
      const earlier = returned.at(-1)
      returned.push(
        Promise.resolve(earlier)
          .then(() => node.kill())
          .then(() => node.start())
      )
      // The host has executed the write.
      return { kind: "lost" }
    }
    const send = async (name: string, delivery: ReturnType<typeof at.forge.delivery>) => {
      const url = `${at.node(name).url}/webhooks/gitea`
      return (await at.forge.send({ ...delivery, url }).catch(() => undefined))?.status === 202
    }
    const write = async (pull: DemoPull, body: string) => {
      const { id } = at.forge.comment(pull, body)
      const delivery = at.forge.delivery({ kind: "comment", pull, body, sender: at.forge.user("dana"), id })
      // Each node gets it, as a host repeats a delivery without a response.
      for (const name of nodes)
        await waitUntil(() => send(name, delivery), { timeout: 60_000, describe: () => `${name}\n${at.logs(20)}` })
    }
    const replies = () =>
      pulls.flatMap(({ comments }) =>
        comments.filter(({ body, user }) => user.login === "aicr" && !body.includes('"fp":"summary"'))
      )
    for (let first = 0; first < count; first += atOnce) {
      const group = Array.from({ length: Math.min(atOnce, count - first) }, (_, n) => first + n)
      const ask = (n: number) => {
        const pull = pulls[n % pulls.length]
        if (pull === undefined) throw new Error("two pull requests")
        return write(pull, n % 4 < 2 ? `@aicr why, in case ${n}?` : "/aicr help")
      }
      await Promise.all(group.map(ask))
      await waitUntil(() => replies().length >= first + group.length, {
        timeout: 120_000,
        describe: () => `${replies().length} of ${first + group.length} replies\n${at.logs(40)}`
      })
    }
    await Promise.all(returned)
    expect(returned.length).toBe(kills)
    // A second reply would be written by what is not finished now.
    await at.settled(120_000)
    expect(replies()).toHaveLength(count)
    // The markers name the comments.
    expect(new Set(replies().map(({ body }) => body)).size).toBe(count)
  },
  Math.max(300_000, count * 10_000)
)
