/**
 * Reasons why nothing was posted. Each is followed from a real delivery to the sentence that an operator reads in a browser, with the setting that decided and the
 * line of the configuration where it is set.
 */
import { createHmac } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { faults } from "../harness/FakeModel.ts"
import { honest, Installation, namesIn, secret } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** One repository per cause, so that no cause hides another. Their triggers are host-0, host-1 and so on. */
const repositories = [
  "team/one",
  "team/branches",
  "team/paths",
  "team/spent",
  "team/silent",
  "team/refused",
  "team/hourly",
  "team/include",
  "team/off",
  "team/night",
  "team/paused",
  "team/limited"
] as const

let at: Installation
let admin: AdminSession
let browser: TestBrowser
let page: Page
let config: string

const configure = (): void => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  const { instances } = document.workspaces
  instances["team-branches"].review = { pull_request: { include_target_branches: ["release"] } }
  instances["team-paths"].review = { exclude: ["src/**"] }
  instances["team-include"].review = { include: ["nothing/**"] }
  instances["team-hourly"].review = { max_per_author_hour: 1 }
  instances["team-silent"].review = { auto_commit: { delay_seconds: 0 } }
  instances["team-off"].enabled = false
  const tomorrow = new Date(Date.now() + 86_400_000).toLocaleDateString("en-US", { weekday: "short", timeZone: "UTC" })
  const windows = [{ days: [tomorrow.toLowerCase()], windows: ["09:00-17:00"] }]
  instances["team-night"].review = { pull_request: { schedule: { timezone: "UTC", rules: windows } } }
  document.outputs.routes.rules = [{ match: { trigger: "host-4" }, line_comments: [], summary: [] }]
  config = stringify(document)
  writeFileSync(file, config)
}

/** Line of the file, with the name of the file, as origins name it. */
const lineOf = (text: string): string => `config.yaml:${config.slice(0, config.indexOf(text)).split("\n").length}`

beforeAll(async () => {
  at = await Installation.make({
    repositories,
    queue: "sqlite",
    attempts: 1,
    budget: { per_repo_daily_usd: 5 },
    env: adminEnv
  })
  configure()
  at.model.script((request) => {
    const [name = ""] = namesIn(request)
    if (name === "failing") return faults.unauthorized()
    if (name === "prose") return { text: "The change looks good to me." }
    if (name === "limited") return faults.rateLimited("7200")
    return name === "costly"
      ? { ...honest(request), usage: { input: 6_000_000, output: 1, cached: 0 } }
      : honest(request)
  })
  at.host.onRequest = ({ method, path }) =>
    method === "POST" && path.startsWith("/repos/team/refused/") && !path.includes("/statuses/")
      ? { kind: "answer", answer: { status: 403, body: { message: "token does not have the required scope" } } }
      : undefined
  await at.aicr.start()
  admin = await AdminSession.open(at.aicr.url)
  browser = await TestBrowser.start()
  const context = await browser.signedIn(admin.token)
  page = await context.newPage()
  page.setDefaultTimeout(15_000)
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await at?.[Symbol.asyncDispose]()
})

interface Cause {
  /** Causes what must be reviewed before. */
  readonly before?: () => Promise<unknown>
  /** Causes the delivery, and returns its id. */
  readonly deliver: () => Promise<string>
  /** Sentences of the page, at the top. */
  readonly sentences: ReadonlyArray<string | RegExp>
  /** Setting, its value, and a text of the line of the file that sets it. */
  readonly setting?: readonly [name: string, value: string | undefined, line: string]
}

const notify = async (name: string, repository: string): Promise<string> =>
  String(Object((await at.forge.notify(await at.open(name, repository), "opened")).body).event_id)

const causes: Readonly<Record<string, Cause>> = {
  "a branch that is not watched": {
    deliver: () => notify("branch", "team/branches"),
    sentences: [
      "Nothing was posted: target branch is not watched",
      "Add it to review.pull_request.include_target_branches"
    ],
    setting: ["review.pull_request.include_target_branches", '["release"]', "include_target_branches"]
  },
  "a comment without a command": {
    before: () => at.open("talk", "team/branches"),
    deliver: async () => {
      const pull = at.forge.repository("team/branches").pulls.get(1)
      if (pull === undefined) throw new Error("no pull request")
      const sender = at.forge.user("erin")
      const { id } = at.forge.comment(pull, "Nice", "erin")
      const { body } = await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "Nice", sender, id }))
      return String(Object(body).event_id)
    },
    // Deliveries of Gitea do not tell whether a comment replies to a finding: its conversation is read.
    sentences: ["Outcome: skipped", "the comment is neither in a thread of a finding nor addressed to the service"]
  },
  "paths that are all excluded": {
    deliver: () => notify("path", "team/paths"),
    sentences: [
      "Outcome: skipped",
      "no changed file passes review.exclude",
      "Nothing was posted",
      "No changed line passes the filters of the review"
    ],
    setting: ["review.exclude", '["src/**"]', "exclude:"]
  },
  "paths that are not included": {
    deliver: () => notify("include", "team/include"),
    sentences: ["Outcome: skipped", "no changed file passes review.include", "Nothing was posted"],
    setting: ["review.include", '["nothing/**"]', " include:"]
  },
  "a budget that is used up": {
    before: () => notify("costly", "team/spent"),
    deliver: () => notify("spent", "team/spent"),
    sentences: ["the budget for model calls (llm.budget) is exhausted", "0 of 3 changed lines were read"],
    setting: ["llm.budget", undefined, "per_repo_daily_usd"]
  },
  "no channel": {
    deliver: () => notify("silent", "team/silent"),
    sentences: ["Outcome: skipped", "no channel publishes reviews of a pull request here; see outputs.routes"],
    setting: ["outputs.routes", undefined, "line_comments:"]
  },
  "a limit per author": {
    before: () => notify("hour", "team/hourly"),
    deliver: () => notify("hourly", "team/hourly"),
    sentences: ["Outcome: skipped", "dana has reached the limit of reviews per hour, which is 1"],
    setting: ["review.max_per_author_hour", "1", "max_per_author_hour"]
  },
  "a repository that was renamed": {
    deliver: async () => {
      const pull = await at.open("renamed")
      const repository = Object.assign(Object.create(pull.repository), { fullName: "team/moved" })
      const sender = at.forge.user("erin")
      const moved = at.forge.delivery({ kind: "pull", pull: { ...pull, repository }, action: "opened", sender })
      return String(Object((await at.forge.send(moved)).body).event_id)
    },
    sentences: ["Nothing was posted: the repository has another name", "Correct its name in the workspace"]
  },
  "a model that refuses the key": {
    deliver: () => notify("failing", "team/one"),
    sentences: [
      "Outcome: failed",
      "HTTP 401",
      "the key is refused: check api_key_env of the provider",
      "Nothing was posted"
    ]
  },
  "a host that refuses what is posted": {
    deliver: () => notify("refused", "team/refused"),
    sentences: [
      "Outcome: failed",
      /Not published: Review with comments\. POST .* returned 403: token does not have the required scope/,
      "the credential lacks a permission",
      "Nothing was posted"
    ]
  }
}

const ids: Record<string, string> = {}
const ended = () =>
  waitUntil(() => at.unfinished().length === 0, { describe: () => at.aicr.log.slice(-4000), timeout: 60_000 })

const sendTwice = async (): Promise<string> => {
  const pull = await at.open("twice")
  const opened = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("erin") })
  const id = String(Object((await at.forge.send(opened)).body).event_id)
  expect(await at.forge.send(opened)).toMatchObject({ body: { status: "duplicate", event_id: id } })
  return id
}

const forge = async (): Promise<void> => {
  const pull = await at.open("forged")
  const sender = at.forge.user("dana")
  const forged = at.forge.delivery({ kind: "pull", pull, action: "opened", sender }, { secret: "wrong" })
  expect(await at.forge.send(forged)).toMatchObject({ status: 401 })
}

// Reviews of different repositories run at the same time.
beforeAll(async () => {
  for (const { before } of Object.values(causes)) await before?.()
  ids["twice"] = await sendTwice()
  await forge()
  await ended()
  for (const [name, { deliver }] of Object.entries(causes)) ids[name] = await deliver()
  await ended()
}, 150_000)

describe("nothing was posted because of", () => {
  it.each(Object.entries(causes))(
    "%s: the page shows it, and where it is set",
    async (name, { sentences, setting }) => {
      await page.goto(`${at.aicr.url}/dashboard/deliveries/${ids[name] ?? ""}`)
      const verdict = page.locator(".verdict")
      for (const sentence of sentences) await verdict.getByText(sentence).first().waitFor()
      if (setting === undefined) return
      const [path, value = "", line] = setting
      const facts = page.locator(".facts", {
        has: page.locator("dd", { hasText: new RegExp(`^${RegExp.escape(path)}$`) })
      })
      await facts.getByRole("link", { name: lineOf(line) }).waitFor()
      expect(await facts.textContent()).toContain(value)
      // The link leads to the value in the configuration.
      await facts.getByRole("link").click()
      await page.locator("#content h1", { hasText: "Configuration" }).waitFor()
      await page.locator("[data-index='0']", { hasText: path }).waitFor()
      expect(new URL(page.url()).searchParams.get("q")).toContain(path)
    }
  )
})

it("a repeated delivery is counted at the first one, and starts no second review", async () => {
  await page.goto(`${at.aicr.url}/dashboard/deliveries/${ids["twice"] ?? ""}`)
  const valueOf = (name: string) => page.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd[1]")
  const latest = valueOf("Latest duplicate")
  await latest.waitFor()
  expect(await valueOf("Duplicates").textContent()).toBe("1")
  expect(await latest.locator("time").getAttribute("datetime")).toMatch(/^\d{4}-/)
  // What was posted leads to the host.
  const posted = page.locator(".verdict").getByRole("link", { name: "Summary comment" })
  expect(await posted.getAttribute("href")).toContain("/team/one/pulls/")
  expect(at.countModelCalls("twice")).toBe(1)
})

it("a renamed repository is on the overview, which leads to its deliveries", async () => {
  await page.goto(`${at.aicr.url}/dashboard/`)
  await page.getByRole("link", { name: "Deliveries of renamed repositories in 24 hours: 1" }).click()
  await page.locator("#content").getByText("team/moved").first().waitFor()
  expect(new URL(page.url()).searchParams.get("reason")).toBe("repository_renamed")
  await page.goto(`${at.aicr.url}/dashboard/deliveries/${ids["a repository that was renamed"] ?? ""}`)
  await page.locator("code", { hasText: "team/moved was team/one before it was renamed" }).waitFor()
})

it("a delivery with a wrong signature is on the overview, which leads to its trigger", async () => {
  await page.goto(`${at.aicr.url}/dashboard/`)
  await page.getByRole("link", { name: "Wrong signatures in 24 hours: 1" }).click()
  const table = page.getByRole("region", { name: "Wrong signatures" })
  await table.getByText("1 from this machine").first().waitFor()
  expect(await page.locator("#content").textContent()).toContain(
    "The secret at the host and that of the trigger differ"
  )
})

type Opened = Parameters<Installation["forge"]["createPull"]>[1]

/** Opens a pull request, and returns its name. */
const opened = async (name: string, repository: string, more: Partial<Opened> = {}): Promise<string> => {
  await at.push(name, 1, repository)
  const pull = await at.forge.createPull(repository, { headBranch: name, title: `Add ${name}`, ...more })
  await at.forge.notify(pull, "opened")
  return `${repository}#${pull.number}`
}

/** A comment on a new pull request by a person without rights. */
const commented = async (name: string, body: string): Promise<string> => {
  const pull = await at.open(name, "team/branches")
  const sender = at.forge.user("mallory")
  const { id } = at.forge.comment(pull, body, "mallory")
  await at.forge.send(at.forge.delivery({ kind: "comment", pull, body, sender, id }))
  return `team/branches#${pull.number}`
}

/** Causes of no review, and the sentence on the page of the change, to which the palette leads with the name of the pull request. */
const reasons: Readonly<Record<string, readonly [cause: () => Promise<string>, sentence: string | RegExp]>> = {
  "a draft": [
    () => opened("draft", "team/one", { draft: true }),
    "Drafts are not reviewed until they are marked as ready"
  ],
  "a label": [
    () => opened("labelled", "team/one", { labels: ["aicr:ignore"] }),
    'review.labels.ignore contains the label "aicr:ignore"'
  ],
  "a target branch that is not watched": [
    () => opened("target", "team/branches"),
    "review.pull_request.include_target_branches does not contain main"
  ],
  "a repository without a workspace": [
    async () => {
      await at.forge.createRepository("team/other")
      const first = { branch: "main", message: "Start", files: { "README.md": "# Start\n" } }
      await at.forge.push("team/other", first)
      return opened("elsewhere", "team/other")
    },
    "No workspace has this repository"
  ],
  "a disabled workspace": [() => opened("disabled", "team/off"), "workspaces.instances.team-off.enabled is false"],
  "a schedule": [() => opened("night", "team/night"), "waits for its schedule to open"],
  "a pause": [
    async () => {
      await admin.post("/queue/pause", { workspace: "team-paused", reason: "release week" })
      return opened("halted", "team/paused")
    },
    "workspace team-paused is paused: release week"
  ],
  "a model that replies in prose": [() => opened("prose", "team/one"), /prose instead of tool calls/],
  "a refused key": [() => opened("failing", "team/one"), "the key is refused: check api_key_env of the provider"],
  "a host that refuses comments": [
    () => opened("forbidden", "team/refused"),
    "the credential lacks a permission; grant it access to this repository"
  ],
  "a command of a stranger": [
    () => commented("strange", "/aicr review"),
    "mallory has no write permission on the repository"
  ],
  "a comment without a command": [
    () => commented("chatter", "Nice work"),
    "the comment is neither in a thread of a finding nor addressed to the service"
  ],
  "a pull request that was closed": [
    async () => {
      const pull = await at.open("shut")
      at.forge.close(pull, false)
      await at.forge.notify(pull, "closed")
      return `team/one#${pull.number}`
    },
    "the pull request was closed or merged"
  ],
  "a filter that excludes everything": [
    () => opened("excluded", "team/paths"),
    "no changed file passes review.exclude"
  ],
  "a wrong signature": [
    async () => {
      const pull = await at.open("unsigned")
      const sender = at.forge.user("dana")
      await at.forge.send(at.forge.delivery({ kind: "pull", pull, action: "opened", sender }, { secret: "wrong" }))
      return `team/one#${pull.number}`
    },
    /Deliveries with a wrong signature in the last hour: [1-9]/
  ],
  "a provider that refuses requests": [() => opened("limited", "team/limited"), "the model provider refuses requests"]
}

describe("within three actions the dashboard shows", () => {
  it.each(Object.entries(reasons))("%s", async (_, [cause, sentence]) => {
    const name = await cause()
    await page.goto(`${at.aicr.url}/dashboard/nodes`)
    await page.locator("#content h1").waitFor()
    await page.keyboard.press("Control+k")
    await page.keyboard.type(name)
    await page.getByRole("option", { name: `Open ${name}` }).waitFor()
    await page.keyboard.press("Enter")
    await page.locator("#content").getByText(sentence).first().waitFor({ timeout: 60_000 })
    expect(new URL(page.url()).searchParams.get("repo")).toBe(name.split("#")[0])
  })

  it("a push that no channel publishes, and a body that is not JSON", async () => {
    const repository = at.forge.repository("team/silent")
    const push = (text: string) =>
      at.forge.push("team/silent", { branch: "main", message: "Push", files: { "NOTES.md": text } })
    const [before, after] = [await push("One\n"), await push("Two\n")]
    const sender = at.forge.user("dana")
    const pushed = at.forge.delivery({ kind: "push", repository, branch: "main", before, after, sender })
    const body = Buffer.from("{")
    const sign = (text: Buffer) => createHmac("sha256", secret).update(text).digest("hex")
    const resigned = Object.entries(pushed.headers).map(([name, value]) => [
      name,
      value.replaceAll(sign(pushed.body), sign(body)).replaceAll(pushed.id, "no-json")
    ])
    const headers = Object.fromEntries(resigned)
    for (const [delivery, status, sentence] of [
      [pushed, 202, /no channel publishes reviews of a push here/],
      [{ ...pushed, id: "no-json", headers, body }, 400, /body is not JSON/]
    ] as const) {
      expect(await at.forge.send(delivery)).toMatchObject({ status })
      await page.goto(`${at.aicr.url}/dashboard/nodes`)
      await page.locator("#content h1").waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("d")
      // The newest one is the first row.
      await page.locator("[data-index='0'] .row-link").click()
      await page.locator("#content").getByText(sentence).first().waitFor()
    }
  })
})
