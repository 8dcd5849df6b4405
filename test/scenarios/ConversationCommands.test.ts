/**
 * Commands in comments at each host, with the real process: a finding is dismissed by its number and reopened, and an objection withdraws it;
 * status and summary follow without a review. The change is described on request. Automatic reviews are paused, also across a restart, a person requests one with a focus, and they
 * are resumed. Who lacks the right gets nothing. A process that is killed at a write executes its command once all the same, and describes a change
 * once: four and two kills on Gitea, ten and twelve on every host with AICR_TEST_CONVERSATIONS=all.
 */
import { expect, it, onTestFinished } from "vitest"
import type { Fault } from "../../demo/DemoForge.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { getConversations } from "../harness/FakeHostConversations.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { startReviewed, writeComment } from "../harness/ReviewedChange.ts"
import { isWhole as isWholeOf, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"
import { listSummaries } from "../harness/Summaries.ts"

const isWhole = isWholeOf("AICR_TEST_CONVERSATIONS")

// Conversations.test.ts takes one of the other hosts.
it.each(isWhole ? ForgeKind.literals : takeTurn("AICR_TEST_CONVERSATIONS", ["forgejo", "github"] as const, 1))(
  "people decide about findings and reviews by commands at %s",
  async (kind) => {
    const { aicr, comment, describe, forge, model, pull, repository, stop } = await startReviewed(kind, {
      review: { status_fail_on: "medium" }
    })
    onTestFinished(stop)
    const wait = (condition: () => boolean) => waitUntil(condition, { timeout: 30_000, describe })
    const status = () => repository.statuses.get(pull.head)?.at(-1)?.state
    const isGreen = () => status() === "success"
    const isRed = () => status() === "failure" || status() === "failed"
    const summary = () => listSummaries(pull)[0]?.body ?? ""
    const reactions = (id: number) =>
      getConversations(repository).reactions.flatMap((one) => (one.comment === id ? [one.content] : []))
    const isDone = (id: number) => reactions(id).some((content) => content === "+1" || content === "thumbsup")
    const write = (login: string, body: string, thread?: typeof comment) =>
      writeComment(forge, pull, login, body, thread)
    await wait(isRed)
    const reviews = model.requests.length

    const refused = await write("eve", "/aicr dismiss 1")
    const dismissed = await write("ada", "/aicr dismiss 1 intended")
    await wait(() => isGreen() && isDone(dismissed) && summary().includes("dismissed"))
    expect(summary()).toMatch(/^- \*\*1\*\* ~~.*~~ · dismissed$/m)
    expect(getThread(comment).body).toContain("Dismissed by ada")

    await write("ada", "reopen", comment)
    await wait(() => isRed() && !summary().includes("~~"))
    expect(getThread(comment).body).toContain("Reopened by ada")

    await write("ada", "An empty cart returns early.", comment)
    await wait(() => isGreen() && summary().includes("withdrawn"))
    expect(summary()).toMatch(/^- \*\*1\*\* ~~.*~~ · withdrawn$/m)
    expect(listSummaries(pull)).toHaveLength(1)
    expect(pull.comments.filter(({ user }) => user.login === "aicr")).toHaveLength(kind === "github" ? 0 : 1)
    expect(reactions(refused)).toEqual([])
    // The objection is the only call of a model.
    expect(model.requests).toHaveLength(reviews + 1)

    const commented = await write("ada", "/aicr describe")
    await wait(() => isDone(commented))
    expect(pull.comments.at(-1)?.body).toMatch(/^\*\*What changes \(as of `[0-9a-f]{12}`\)\*\*\n\nReviewed\./)
    pull.description = "Mine.\n<!-- aicr:describe --><!-- /aicr:describe -->\nMine, too."
    const described = await write("ada", "/aicr describe")
    await wait(() => isDone(described))
    expect(pull.description).toMatch(
      /^Mine\.\n<!-- aicr:describe -->\n\n\*\*What changes[^<]*Reviewed\.[^<]*<!-- \/aicr:describe -->\nMine, too\.$/
    )

    const paused = await write("ada", "/aicr pause")
    await wait(() => isDone(paused))
    await aicr.stop()
    await aicr.start()
    const push = async (message: string) => {
      const skips = aicr.log.split("ChangePaused").length
      await forge.push("team/one", { branch: "cart", message, files: { [`${message}.md`]: `${message}\n` } })
      await forge.notify(pull, "synchronized")
      return () => aicr.log.split("ChangePaused").length > skips
    }
    await wait(await push("one"))
    expect(status()).toBeUndefined()
    expect(model.requests).toHaveLength(reviews + 1)

    const requested = await write("ada", "/aicr review full focus: what an empty cart costs")
    await wait(() => isDone(requested) && status() !== undefined && status() !== "pending")
    expect(model.requests.at(-1)?.text).toMatch(/<focus \w+>\\nwhat an empty cart costs\\n<\/focus \w+>/)

    await wait(await push("two"))
    expect(status()).toBeUndefined()
    const resumed = await write("ada", "/aicr resume")
    // The model of these tests reviews no file without the finding to its end.
    await wait(() => isDone(resumed) && status() === "pending")
    forge.expectContract()
  },
  180_000
)

/** Writes of a command: its reaction, the comment of the finding, the reaction at its end, the summary and the status. */
const writes = [0, 1, 2, 3, 4]
const every = writes.flatMap((write) => [{ write, kind: "cut" } as const, { write, kind: "lost" } as const])
const kills = isWhole ? every : every.filter((_, index) => index % 3 === 0)

it.each(isWhole ? ForgeKind.literals : (["gitea"] as const))(
  "a command whose process is killed at any write takes effect once at %s",
  async (host) => {
    const settings = { review: { status_fail_on: "medium" } }
    const { aicr, comment, describe, forge, pull, repository, settled, stop } = await startReviewed(host, settings)
    onTestFinished(stop)
    const isGreen = () => repository.statuses.get(pull.head)?.at(-1)?.state === "success"
    const ours = () => listSummaries(pull)
    let isDismissed = false
    for (const { kind, write } of kills) {
      // A write that belongs to the command before would end the process before this one is stored.
      await settled()
      isDismissed = !isDismissed
      const struck = Promise.withResolvers<void>()
      let count = 0
      forge.intercept(({ method, path }): Fault | undefined => {
        const isWrite = method !== "GET" && !/graphql|markdown/.test(path)
        if (!isWrite || count++ !== write) return undefined
        void aicr.kill().then(() => struck.resolve())
        return { kind }
      })
      const command = isDismissed ? "/aicr dismiss 1" : "/aicr reopen 1"
      // The process may be killed before its response arrives; the receipt is stored by then.
      await writeComment(forge, pull, "ada", command).catch(() => undefined)
      await struck.promise
      await aicr.start()
      const isShown = () => isGreen() === isDismissed && ours()[0]?.body.includes("~~") === isDismissed
      const context = () => `${write} ${kind}\n${describe()}`
      await waitUntil(isShown, { timeout: 60_000, describe: context })
      const notes = getThread(comment).body?.match(/\*\*(?:Dismissed|Reopened) by ada\.\*\*/g)
      expect(notes).toEqual([isDismissed ? "**Dismissed by ada.**" : "**Reopened by ada.**"])
    }
    expect(ours()).toHaveLength(1)
  },
  isWhole ? 1_200_000 : 240_000
)

/** Writes of `describe`: its reaction, the description or a comment, the reaction at its end. */
const forms = ["description", "comment"] as const
const describeKills = isWhole
  ? [0, 1, 2].flatMap((write) =>
      (["cut", "lost"] as const).flatMap((kind) => forms.map((form) => ({ form, kind, write })))
    )
  : forms.map((form) => ({ form, kind: "lost", write: 1 }) as const)

it.each(isWhole ? ForgeKind.literals : (["gitea"] as const))(
  "a change is described once by a command whose process is killed at any write at %s",
  async (host) => {
    const { aicr, describe, forge, pull, repository, stop } = await startReviewed(host)
    onTestFinished(stop)
    const countTexts = (body: string) => body.split("What changes").length - 1
    for (const { form, kind, write } of describeKills) {
      pull.description = form === "comment" ? "Mine." : "Mine.\n<!-- aicr:describe --><!-- /aicr:describe -->\nToo."
      const struck = Promise.withResolvers<void>()
      let count = 0
      forge.intercept(({ method, path }): Fault | undefined => {
        if (method === "GET" || /graphql|markdown/.test(path) || count++ !== write) return undefined
        void aicr.kill().then(() => struck.resolve())
        return { kind }
      })
      const written = await writeComment(forge, pull, "ada", "/aicr describe").catch(() => undefined)
      await struck.promise
      await aicr.start()
      const isDone = () => {
        const shown = getConversations(repository).reactions.filter(({ comment }) => comment === written)
        return written === undefined || shown.some(({ content }) => content === "+1" || content === "thumbsup")
      }
      // The summary has the same text.
      const described = () => pull.comments.filter(({ body }) => !body.includes('"fp":"summary"'))
      const commented = () => described().reduce((sum, { body }) => sum + countTexts(body), 0)
      const isWritten = () => (form === "comment" ? commented() : countTexts(pull.description)) === 1
      const context = () => `${form} ${write} ${kind}\n${pull.description}\n${describe()}`
      await waitUntil(() => isDone() && isWritten(), { timeout: 60_000, describe: context })
      expect(commented()).toBeLessThanOrEqual(1)
      expect(countTexts(pull.description)).toBe(form === "comment" ? 0 : 1)
      expect(pull.description).toMatch(form === "comment" ? /^Mine\.$/ : /^Mine\.\n[^]*\nToo\.$/)
    }
  },
  isWhole ? 1_200_000 : 240_000
)
