/** A host with a reviewed pull request and the service, in which people write comments. */
import { createHmac } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import type { DemoPull, DemoReviewComment } from "../../demo/DemoForgeState.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { AicrProcess } from "./AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "./FakeForge.ts"
import type { FakeForge } from "./FakeForge.ts"
import { getConversations } from "./FakeHostConversations.ts"
import { review, startFakeModel } from "./FakeModel.ts"
import { getThread } from "./FakeThreads.ts"
import { freePort } from "./FreePort.ts"
import { readRows } from "./HookedNode.ts"
import { waitUntil } from "./Wait.ts"

const guarded = "if (items.length === 0) return 0"
const code = `export const total = (items) => {\n  ${guarded}\n  return items.reduce(add)\n}\n`
const finding = {
  file: "cart.ts",
  line: 3,
  severity: "medium",
  category: "bug",
  title: "Empty carts",
  message: "An empty cart fails.",
  quote: "return items.reduce(add)"
}

/** Writes a comment of a person in the thread of a comment, or below the change; returns its id and its delivery. */
export const addComment = (
  forge: FakeForge,
  pull: DemoPull,
  login: string,
  body: string,
  thread?: DemoReviewComment
) => {
  const user = forge.user(login)
  const written = thread === undefined ? forge.comment(pull, body, login) : undefined
  const id = written?.id ?? forge.state.nextId()
  if (thread !== undefined) getThread(thread).answers.push({ id, user, body, createdAt: forge.state.now() })
  const made = forge.delivery({ kind: "comment", pull, body, sender: user, id })
  const payload = JSON.parse(made.body.toString())
  let headers: Record<string, string> = { ...made.headers }
  if (thread !== undefined && forge.kind === "github") {
    headers["x-github-event"] = "pull_request_review_comment"
    payload.pull_request = { ...payload.issue, base: { ref: pull.baseBranch } }
    payload.comment.in_reply_to_id = thread.id
    delete payload.issue
  }
  if (thread !== undefined && forge.kind === "gitlab")
    Object.assign(payload.object_attributes, { id, type: "DiffNote", discussion_id: `d${thread.id}` })
  if (payload.comment !== undefined) payload.comment.id = id
  const text = Buffer.from(JSON.stringify(payload))
  const sha256 = createHmac("sha256", forge.secret).update(text).digest("hex")
  const sha1 = createHmac("sha1", forge.secret).update(text).digest("hex")
  for (const name of Object.keys(headers)) {
    if (name.endsWith("-signature-256")) headers = { ...headers, [name]: `sha256=${sha256}` }
    else if (name.endsWith("hub-signature")) headers = { ...headers, [name]: `sha1=${sha1}` }
    else if (name.endsWith("-signature")) headers = { ...headers, [name]: sha256 }
  }
  return { id, delivery: { ...made, headers, body: text } }
}

/** Writes a comment as above, and delivers it. */
export const writeComment = async (...comment: Parameters<typeof addComment>) => {
  const [forge] = comment
  const { delivery, id } = addComment(...comment)
  const { status } = await forge.send(delivery)
  if (status !== 202) throw new Error(`the delivery got ${status}`)
  return id
}

/** Returns whether a service has executed all that was delivered to it, and written all of it. `folder`: that of its records. */
export const isIdle = (folder: string): boolean =>
  [
    "SELECT 1 FROM events WHERE work IS NOT NULL AND outcome IS NULL",
    "SELECT 1 FROM publications WHERE status IN ('pending', 'sending', 'unknown')"
  ].every((query) => readRows(folder, query).length === 0)

const channels = {
  gitea: "gitea_pr_review",
  forgejo: "gitea_pr_review",
  github: "github_pr_review",
  gitlab: "gitlab_mr_review"
} as const

/** Starts a host with a reviewed pull request and the service. `comment` is that of its finding. */
export const startReviewed = async (
  kind: ForgeKind,
  {
    accounts,
    findings = [],
    modelMillis = 0,
    review: settings = {},
    workers = {}
  }: {
    /** Further accounts at the host, by their tokens. */
    readonly accounts?: Readonly<Record<string, string>>
    /** Findings that the model reports in addition to the finding of `comment`. */
    readonly findings?: ReadonlyArray<object>
    readonly modelMillis?: number
    readonly review?: object
    readonly workers?: object
  } = {}
) => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-conversations-"))
  const forge = await startFakeForge(kind, { accounts })
  const model = await startFakeModel(async ({ text }) => {
    if (!text.includes("Write the reply to the last comment")) {
      // Reviews of further changes never end.
      if (!text.includes("items.reduce(add)")) await new Promise(() => {})
      return review([finding, ...findings])
    }
    await new Promise((resume) => setTimeout(resume, modelMillis))
    const explained = /\/aicr explain/.test(text) ? /reported code: (.+?)\\n/.exec(text)?.[1] : undefined
    const input =
      explained !== undefined
        ? { outcome: "replied", text: `It is about \`${explained}\`.` }
        : text.includes("returns early")
          ? { outcome: "withdrawn", text: "You are right.", quote: guarded }
          : { outcome: "replied", text: "Because the sum of nothing is undefined." }
    return { calls: [{ name: "reply", input }] }
  })
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  const names = ["review"]
  writeFileSync(
    configFile,
    stringify({
      server: { port, hostname: "127.0.0.1" },
      triggers: [makeHostTrigger(kind, forge.url)],
      workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
      outputs: {
        channels: [{ name: "review", kind: channels[kind] }],
        routes: { default: { line_comments: names, summary: names } }
      },
      llm: {
        providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
        model_chain: { default: [{ provider: "fake", model: "fake" }] }
      },
      agent: { default: "native-llm" },
      review: {
        output_language: "en",
        verification: "off",
        conversation: { limits: { thread: 1000, person_hour: 1000, change_day: 1000 } },
        ...settings
      },
      queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") }, workers },
      storage: {
        database: { sqlite: { path: join(directory, "aicr.db") } },
        object: { filesystem: { root: join(directory, "objects") } }
      }
    })
  )
  const url = `http://127.0.0.1:${port}`
  const aicr = new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
  await forge.createRepository("team/one")
  await forge.push("team/one", { branch: "main", message: "Start", files: { "README.md": "One\n" } })
  forge.setPermission("team/one", "ada", "write")
  forge.setWebhookUrl(`${url}/webhooks/${kind}`)
  await aicr.start()
  const repository = forge.repository("team/one")
  getConversations(repository).visibility = "public"
  await forge.push("team/one", { branch: "cart", from: "main", message: "Cart", files: { "cart.ts": code } })
  const pull = await forge.createPull("team/one", { title: "Cart", headBranch: "cart" })
  await forge.notify(pull, "opened")
  const describe = () => aicr.log.slice(-6000)
  await waitUntil(() => repository.statuses.get(pull.head)?.some(({ state }) => state !== "pending") === true, {
    timeout: 60_000,
    describe
  })
  const [comment] = pull.reviews.flatMap(({ comments }) => comments)
  if (comment === undefined) throw new Error(`no comment of the review\n${describe()}`)
  /** Texts of the service in the thread of the finding after its comment. On Gitea they are reviews at the same line. */
  const replies = () => [
    ...getThread(comment).answers.filter(({ user }) => user.login === "aicr"),
    ...pull.reviews.flatMap((one) => (one.comments.includes(comment) ? [] : one.comments))
  ]
  /** Waits until nothing is left to write: reactions and replies have publishers of their own, and either may be last. */
  const settled = () => waitUntil(() => isIdle(directory), { timeout: 60_000, describe })
  const stop = async () => {
    await aicr[Symbol.asyncDispose]()
    await model.close()
    await forge.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return { aicr, comment, configFile, describe, forge, model, pull, replies, repository, settled, stop }
}
