/**
 * The dashboard in a real browser, over the real service: every page by mouse and by keyboard, in both themes, without an accessibility violation,
 * a violation of its policy, an error on the console or a script of an outsider.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { BrowserContext, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hostile, publicAddress, startDashboardWorld } from "../dashboard/DashboardWorld.ts"
import type { DashboardWorld } from "../dashboard/DashboardWorld.ts"
import { adminCredentials, AdminSession } from "../harness/AdminSession.ts"
import { makeViolationSearch } from "../harness/Axe.ts"
import { TestBrowser, watchPage } from "../harness/Browser.ts"
import { isWhole } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const searchViolations = makeViolationSearch(isWhole("AICR_TEST_PAGES"))

let world: DashboardWorld
let browser: TestBrowser
let context: BrowserContext
let page: Page
let problems: () => ReadonlyArray<string>
let paths: ReadonlyArray<readonly [name: string, path: string]>

const idOf = (items: ReadonlyArray<Readonly<Record<string, unknown>>>, field: string, value: string): string =>
  String(items.find((item) => item[field] === value)?.["id"])

const logIn = async (on: Page): Promise<void> => {
  await on.getByLabel("User name").fill(adminCredentials.username)
  await on.getByLabel("Password").fill(adminCredentials.password)
  await on.keyboard.press("Enter")
}

/** Empties the editor. Chromium would keep the style of a selection that is typed over in an attribute, which the policy blocks. */
const clear = async (): Promise<void> => {
  await page.keyboard.press("Control+a")
  await page.keyboard.press("Backspace")
}

/** Waits until nothing is loading. */
const open = async (path: string): Promise<void> => {
  await page.goto(`${world.url}${path}`)
  await settle()
}
/** Holds live events back, so that a page notices the end of its session with the next request only. */
const withoutLive = async (): Promise<void> => {
  await page.route("**/api/admin/live", () => new Promise(() => {}))
}
const withLive = (): Promise<void> => page.unrouteAll({ behavior: "ignoreErrors" })

const settle = async (): Promise<void> => {
  await page.locator("#content h1").waitFor()
  await page.locator("#content .loading").first().waitFor({ state: "detached" })
}

/** A control of the filters, by its label. */
const filterOf = (label: string, within: Locator = page.getByRole("search").first()): Locator =>
  within.locator("label", { has: page.locator("span", { hasText: new RegExp(`^${label}$`) }) }).locator("input, select")

/** Lists what a mouse can use and the keyboard cannot. Rows of lists that are out of view follow with their keys. */
const unreachable = (): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll("#content *")]
    .filter((element) => getComputedStyle(element).cursor === "pointer")
    .filter((element) => element.closest("a[href], button, select, input, label, summary, [tabindex='0']") === null)
    .map((element) => element.outerHTML.slice(0, 120))`)

/** Returns the address of the page about the accepted findings of a project. */
const acceptancePath = (project: Readonly<Record<string, unknown>> | undefined): string =>
  `/acceptance?workspace=${String(project?.["workspace"])}&name=${String(project?.["trigger"])}:${String(project?.["repository"])}`

beforeAll(async () => {
  world = await startDashboardWorld()
  browser = await TestBrowser.start()
  context = await browser.context()
  page = await context.newPage()
  page.setDefaultTimeout(15_000)
  problems = watchPage(page)
  const runs = await world.admin.items("/runs")
  const [project] = await world.admin.items("/projects")
  const events = await world.admin.items("/events")
  const run = idOf(runs, "status", "succeeded")
  paths = [
    ["Overview", "/"],
    ["Changes", "/changes"],
    ["Add first", "/change?repo=team/one&number=1"],
    ["Deliveries", "/deliveries"],
    ["team/one#", `/deliveries/${idOf(events, "reason", "draft")}`],
    ["Runs", "/runs"],
    ["Add first", `/runs/${run}`],
    ["Fails", `/runs/${idOf(runs, "status", "failed")}`],
    ["Compare", `/runs/${run}/compare`],
    ["Queue", "/queue"],
    ["Queue", "/queue?tab=batches"],
    ["Projects", "/projects"],
    ["Acceptance", acceptancePath(project)],
    ["Statistics", "/statistics"],
    ["Rules", "/rules"],
    ["Nodes", "/nodes"],
    ["Providers", "/providers"],
    ["Set-up", "/setup"],
    ["Chat", "/chat"],
    ["Configuration", "/configuration"],
    ["Configuration", "/configuration?tab=forms&kind=triggers&name=second"],
    ["Configuration", "/configuration?tab=forms&kind=workspaces&new=1"],
    ["Configuration", "/configuration?tab=edit"],
    ["Configuration", "/configuration?tab=revisions"],
    ["Revision 1", "/configuration/revisions/1"],
    ["Tokens", "/tokens"],
    ["Audit", "/audit"],
    ["Page not found", "/nowhere"]
  ]
  await page.goto(world.url)
  await logIn(page)
  await page.locator("#content h1").waitFor()
}, 180_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

describe("the login", () => {
  const address = /http:\/\/aicr\.test\/[^\s)]+/g
  /** Addresses that the service wrote, by where they are. */
  const links: Readonly<Record<string, () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>>> = {
    "a commit status": () =>
      [...world.at.forge.repository("team/one").statuses.values()].flat().map(({ targetUrl }) => targetUrl),
    "a comment": () => world.at.forge.pull("team/one", 1).comments.flatMap(({ body }) => body.match(address) ?? []),
    "a chat": async () => (await world.chat("prdetail app 1")).match(address) ?? []
  }

  it.each(Object.keys(links))("keeps the address of a link from %s, and opens its run", async (kind) => {
    const link = (await links[kind]?.())?.find((url) => url.endsWith(paths[6]?.[1] ?? "")) ?? ""
    const path = link.slice(`${publicAddress}/dashboard`.length)
    expect(path).toMatch(/^\/runs\/[0-9a-f-]{36}$/)
    await using stranger = await browser.context()
    const other = await stranger.newPage()
    await other.goto(`${world.url}${path}`)
    await logIn(other)
    await other.locator("#content h1", { hasText: "Add first" }).waitFor()
    expect(new URL(other.url()).pathname).toBe(`/dashboard${path}`)
  })

  it("is taken over by a tab that a link opens", async () => {
    const other = await context.newPage()
    await other.goto(`${world.url}/nodes`)
    await other.locator("#content h1", { hasText: "Nodes" }).waitFor()
    expect(await other.getByLabel("Password").count()).toBe(0)
    await other.close()
  })

  it("that expired is renewed over the page, and the request is repeated", async () => {
    await withoutLive()
    await open("/queue")
    await page.getByRole("button", { name: "Pause a workspace" }).click()
    await page.getByLabel("Reason").fill("a release")
    await world.admin.post("/sessions/revoke", { keep_current: true })
    await page.getByRole("dialog").getByRole("button", { name: "Pause a workspace" }).click()
    const dialog = page.getByRole("dialog", { name: "The session has ended" })
    await dialog.getByLabel("Password").fill(adminCredentials.password)
    await dialog.getByRole("button", { name: "Log in" }).click()
    await page.locator(".pause", { hasText: "Workspace team-one is paused" }).waitFor()
    await page.getByRole("button", { name: "Resume" }).click()
    await page.locator(".pause", { hasText: "Workspace team-one is paused" }).waitFor({ state: "detached" })
    await withLive()
    // The refused requests are the only errors that this causes.
    expect(problems().filter((problem) => !problem.includes("401"))).toEqual([])
  })
})

describe("keyboard", () => {
  it("g and a letter open pages, j and Enter a row, / the filter, Ctrl+K the palette", async () => {
    await open("/")
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.locator("#content h1", { hasText: "Runs" }).waitFor()
    await page.locator("[data-index='1'] .row-link").waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.locator("[data-index='1'] .row-link:focus").waitFor()
    await page.keyboard.press("k")
    await page.locator("[data-index='0'] .row-link:focus").waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/)
    await page.goBack()
    await page.locator("#content h1", { hasText: "Runs" }).waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("team/none")
    await page.getByText("No run matches").waitFor()
    expect(page.url()).toContain("q=team%2Fnone")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("nod")
    await page.keyboard.press("Enter")
    await page.locator("#content h1", { hasText: "Nodes" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/dashboard/nodes")
  })
})

describe("the palette and the letters", () => {
  /** Opens an entry of the palette by a part of its name, once it is listed. */
  const palette = async (words: string, entry: string | RegExp): Promise<void> => {
    await page.keyboard.press("Control+k")
    await page.keyboard.type(words)
    await page.getByRole("option", { name: entry }).first().waitFor()
    await page.keyboard.press("Enter")
  }

  it("open every page of the menu", async () => {
    await open("/nowhere")
    const links = page.getByRole("navigation").getByRole("link")
    const names = (await links.allTextContents()).map((name) => name.trim())
    await page.keyboard.press("?")
    const letters = await page
      .getByRole("dialog")
      .locator("dl .contents")
      .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("kbd")].at(-1)?.textContent ?? ""))
    await page.keyboard.press("Escape")
    expect([names.length, letters.length, new Set(letters).size]).toEqual([15, 15, 15])
    const heading = (name = "") => page.locator("#content h1", { hasText: new RegExp(`^${name}$`) })
    for (const [index, name] of names.entries()) {
      await palette(name, name)
      await heading(name).waitFor()
      // The page of another row, so that each of them is opened both ways.
      const other = (index + Math.floor(names.length / 2)) % names.length
      await page.evaluate("document.activeElement.blur()")
      await page.keyboard.press("g")
      await page.keyboard.press(letters[other] ?? "")
      await heading(names[other]).waitFor()
    }
  })

  it("open a recent change by its title, a pull request by its name, and a run and a delivery by their ids", async () => {
    const run = paths[6]?.[1].split("/").at(-1) ?? ""
    const delivery = paths[4]?.[1].split("/").at(-1) ?? ""
    await open("/nodes")
    // Before the service has searched, the entries are those of the recent changes with these words.
    const { promise: requested, resolve: request } = Promise.withResolvers<void>()
    await page.route(/\/api\/admin\/changes\?.*q=fails/, () => request())
    await page.keyboard.press("Control+k")
    await page.keyboard.type("fails")
    await requested
    await page.getByRole("option", { name: "team/one#2 Fails", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/change\?repo=team%2Fone&number=2/)
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await palette("team/one#1", "Open team/one#1")
    await page.waitForURL(/\/change\?repo=team%2Fone&number=1/)
    await palette("team/one!2", "Open team/one#2")
    await page.waitForURL(/\/change\?repo=team%2Fone&number=2/)
    await palette(run, "Open run")
    await page.waitForURL(new RegExp(`/runs/${run}$`))
    await page.keyboard.press("Control+k")
    await page.keyboard.type(delivery)
    await page.getByRole("option", { name: "Open delivery" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`/deliveries/${delivery}$`))
    await page.getByText("Nothing was posted: draft").waitFor()
    expect(await page.getByRole("dialog").count()).toBe(0)
  })
})

describe("a record", () => {
  it("is not shown in place of another one that is being read", async () => {
    const failed = paths[7]?.[1] ?? ""
    const id = failed.split("/").at(-1) ?? ""
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await open(paths[6]?.[1] ?? "")
    await page.route(`**/api/admin/runs/${id}`, async (route) => {
      await held
      await route.continue()
    })
    await page.keyboard.press("Control+k")
    await page.keyboard.type(id)
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`${id}$`))
    await page.locator("#content .loading").first().waitFor()
    expect(await page.locator("#content").textContent()).not.toContain("Add first")
    release()
    await page.locator("#content h1", { hasText: "Fails" }).waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  it("that is missing or cannot be read is explained, and read again on request", async () => {
    const missing = "00000000-0000-7000-8000-000000000000"
    await page.goto(`${world.url}/runs/${missing}`)
    await page.getByText("No run with this id exists").waitFor()
    // A summary links to the statement with the head, which is enough once the run is removed.
    await page.goto(`${world.url}/runs/${missing}?head=${"0".repeat(40)}#statement`)
    await page.getByText("The details of this review are removed").waitFor()
    await page.locator("#statement").click()
    await page.getByText("No statement of such a verdict is stored").waitFor()
    await page.goto(`${world.url}/deliveries/${missing}`)
    await page.locator("#content .failure").waitFor()
    await page.route("**/api/admin/runs?*", (route) =>
      route.fulfill({ status: 404, contentType: "application/json", body: '{"code":"broken","detail":"It is broken"}' })
    )
    await page.goto(`${world.url}/runs`)
    const failure = page.locator("#content .failure")
    await failure.waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await failure.getByRole("button").click()
    await page.locator("[data-index='0']").waitFor()
    expect(await failure.count()).toBe(0)
  })
})

describe("a list", () => {
  const times = async () => {
    await settle()
    const all = await page
      .locator(".list-rows time")
      .evaluateAll((found) => found.map((time) => time.getAttribute("datetime")))
    return all.map(String)
  }
  const head = (name: string) => page.getByRole("columnheader", { name })

  it("is sorted by the keyboard, and its order is part of the address", async () => {
    await open("/deliveries")
    expect(await head("Received").getAttribute("aria-sort")).toBe("descending")
    const newest = await times()
    await head("Received").getByRole("button").focus()
    await page.keyboard.press("Enter")
    await page.waitForURL(/sort=received/)
    await page.locator("[role=columnheader][aria-sort=ascending]", { hasText: "Received" }).waitFor()
    await waitUntil(async () => (await times())[0] === newest.at(-1), { describe: () => "the list is not sorted" })
    await page.reload()
    expect((await times())[0]).toBe(newest.at(-1))
    await head("Received").getByRole("button").press("Space")
    await page.waitForURL((url) => !url.search.includes("sort"))
  })

  it("is saved as a view with its filters, opened from the palette and the list, and deleted", async () => {
    const views = page.locator("details.views > summary")
    const isOpened = (url: URL) =>
      url.pathname.endsWith("/runs") &&
      url.searchParams.get("q") === "fails" &&
      url.searchParams.get("status") === "failed"
    await open("/runs?status=failed&q=fails")
    await views.click()
    await page.getByLabel("Name", { exact: true }).fill("Red & <b>")
    await page.getByRole("button", { name: "Save this view" }).click()
    await page.getByRole("link", { name: "Red & <b>" }).waitFor()
    await open("/nodes")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("red &")
    await page.getByRole("option", { name: "Red & <b>" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(isOpened)
    await open("/runs")
    await views.click()
    await page.getByRole("link", { name: "Red & <b>" }).click()
    await page.waitForURL(isOpened)
    await page.getByRole("button", { name: "Delete the view Red & <b>" }).click()
    await page.getByText("No view of this list is saved").waitFor()
    expect(await page.locator(".views-menu li").count()).toBe(0)
  })

  it("by a value offers its orders where the service has them", async () => {
    await open("/runs?sort=-duration")
    expect(await head("Duration").getAttribute("aria-sort")).toBe("descending")
    await open("/runs?status=failed")
    expect(await head("Duration").getByRole("button").count()).toBe(0)
    expect(await head("Started").getByRole("button").count()).toBe(1)
  })
})

/** A filter and its value. It is set by its control, or by a link, and then the list names it. */
interface Filter {
  readonly name: string
  readonly value: string
  readonly select?: string
  readonly text?: string
}
const chosen = (name: string, label: string, value: string): Filter => ({ name, select: label, value })
const typed = (name: string, label: string, value: string): Filter => ({ name, text: label, value })
const linked = (name: string, value: string): Filter => ({ name, value })
const since = "2026-01-01T00:00:00.000Z"

/** Every filter of every list that the service filters, by the page and the request of the list. */
const filtered: ReadonlyArray<readonly [page: string, request: string, filters: ReadonlyArray<Filter>]> = [
  [
    "/runs",
    "/runs",
    [
      typed("q", "Search", "login"),
      typed("repo", "Repository", "team/one"),
      chosen("status", "Status", "failed"),
      typed("number", "Number", "2"),
      chosen("workspace", "Workspace", "team-one"),
      chosen("trigger", "Trigger", "host-0"),
      linked("since", since),
      linked("until", since),
      linked("target", "gitea|x"),
      linked("sort", "created")
    ]
  ],
  [
    "/changes",
    "/changes",
    [
      typed("q", "Search", "login"),
      typed("repo", "Repository", "team/one"),
      chosen("status", "Review", "failed"),
      typed("number", "Number", "2"),
      chosen("workspace", "Workspace", "team-one"),
      chosen("trigger", "Trigger", "host-0"),
      linked("since", since),
      linked("until", since),
      linked("sort", "created")
    ]
  ],
  [
    "/deliveries",
    "/events",
    [
      typed("q", "Search", "login"),
      typed("repo", "Repository", "team/one"),
      chosen("decision", "Decision", "ignored"),
      typed("number", "Number", "2"),
      chosen("outcome", "Outcome", "executed"),
      chosen("workspace", "Workspace", "team-one"),
      chosen("trigger", "Trigger", "host-0"),
      linked("reason", "draft"),
      linked("since", since),
      linked("until", since),
      linked("sort", "received")
    ]
  ],
  [
    "/queue",
    "/queue",
    [
      typed("q", "Search", "login"),
      chosen("status", "Status", "dead"),
      chosen("workspace", "Workspace", "team-one"),
      linked("since", since),
      linked("until", since),
      linked("sort", "-admitted")
    ]
  ],
  [
    "/queue?tab=batches",
    "/batches",
    [chosen("status", "Status", "open"), chosen("workspace", "Workspace", "team-one")]
  ],
  [
    "/chat",
    "/chat/requests",
    [
      chosen("connection", "Connection", "lark"),
      chosen("status", "Status", "succeeded"),
      chosen("workspace", "Workspace", "team-one"),
      linked("sort", "received")
    ]
  ],
  [
    "/audit",
    "/audit",
    [typed("actor", "User", "root"), typed("action", "Action", "login"), linked("since", since), linked("sort", "at")]
  ]
]

describe("the filters of a list", () => {
  const control = ({ select: label, text: name }: Filter) => filterOf(label ?? name ?? "")
  const has = (search: URLSearchParams, filters: ReadonlyArray<Filter>) =>
    filters.every(({ name, value }) => search.get(name) === value)
  /** Waits until the list was read with these filters. */
  const reads = (request: string, filters: ReadonlyArray<Filter>) =>
    page.waitForRequest((sent) => {
      const { pathname, searchParams } = new URL(sent.url())
      return pathname === `/api/admin${request}` && has(searchParams, filters)
    })

  it.each(filtered)(
    "of %s are part of the address and of the request, also together",
    async (path, request, filters) => {
      const ofLinks = filters.filter(({ select: label, text: name }) => label === undefined && name === undefined)
      const [address = "", query = ""] = path.split("?")
      const params = new URLSearchParams(query)
      for (const { name, value } of ofLinks) params.set(name, value)
      await Promise.all([reads(request, ofLinks), open(`${address}?${params.toString()}`)])
      const all = reads(request, filters)
      for (const filter of filters.filter((one) => !ofLinks.includes(one))) {
        if (filter.select === undefined) await control(filter).fill(filter.value)
        else await control(filter).selectOption(filter.value)
      }
      await Promise.all([all, page.waitForURL(({ searchParams }) => has(searchParams, filters))])
      await Promise.all([reads(request, filters), page.reload()])
      await settle()
      for (const filter of filters.filter((one) => !ofLinks.includes(one)))
        expect([filter.name, await control(filter).inputValue()]).toEqual([filter.name, filter.value])
      await page.getByRole("button", { name: "Clear filters" }).first().click()
      await page.waitForURL(({ searchParams }) =>
        filters.every(({ name }) => name === "sort" || !searchParams.has(name))
      )
    }
  )

  it("that a link sets are named, and removed by a click", async () => {
    await open(`/runs?since=${since}&status=failed,timeout`)
    expect(await filterOf("Status").locator("option:checked").textContent()).toBe("failed, timed out")
    expect(await filterOf("Since").inputValue()).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    await filterOf("Time").selectOption({ label: "Any time" })
    await page.waitForURL(({ searchParams }) => !searchParams.has("since") && searchParams.has("status"))
  })

  it("of notices are kept next to those of requests from chat", async () => {
    await open("/chat?status=succeeded")
    const notices = page.getByRole("search", { name: "Notices to operators" })
    const read = page.waitForRequest(
      /chat\/notices\?.*kind=review_failed.*status=sent|chat\/notices\?.*status=sent.*kind=review_failed/
    )
    await filterOf("Notice", notices).selectOption("review_failed")
    await filterOf("Status", notices).selectOption("sent")
    await read
    await page.reload()
    expect(await filterOf("Notice", notices).inputValue()).toBe("review_failed")
    expect(page.url()).toMatch(/status=succeeded/)
  })

  it("that is being typed does not reach the page that is opened next", async () => {
    const other = await context.newPage()
    await other.clock.install()
    await other.goto(`${world.url}/runs`)
    // The code of the next page arrives after the time of typing.
    const isTyped = Promise.withResolvers<void>()
    await other.route(/assets\/Changes-/, async (route) => {
      await isTyped.promise
      await route.continue()
    })
    await other.getByLabel("Repository").fill("team/late")
    await other.getByRole("link", { name: "Changes", exact: true }).click()
    await other.waitForURL(/\/changes/)
    await other.clock.fastForward(5000)
    isTyped.resolve()
    await other.locator("#content h1", { hasText: "Changes" }).waitFor()
    await other.clock.fastForward(5000)
    expect(other.url()).not.toContain("late")
    await other.close()
  })

  it("of projects and the window of statistics select what is shown", async () => {
    await open("/projects?q=nowhere")
    await page.getByText("No project matches").waitFor()
    await page.getByLabel("Repository").fill("team/one")
    await page.getByRole("region", { name: "Projects" }).getByText("team/one").first().waitFor()
    await page.waitForURL(/q=team%2Fone/)
    const read = page.waitForRequest(/stats\/timeline\?.*bucket=day/)
    await open("/statistics?window=all")
    const [from] = [new URL((await read).url()).searchParams.get("since")]
    expect(Date.now() - Date.parse(from ?? "")).toBeGreaterThan(300 * 86_400_000)
    expect(await page.getByRole("button", { name: "All time" }).getAttribute("aria-pressed")).toBe("true")
    const today = page.waitForRequest(/stats\/projects\?since=/)
    await page.getByRole("button", { name: "Today" }).click()
    await today
    await page.waitForURL(/window=today/)
  })

  it("select the rows of tables by their columns", async () => {
    const first = (name: string) => page.getByRole("region", { name }).locator("tbody tr").first()
    await open("/projects?sort=repository")
    await page.getByRole("button", { name: "Cost" }).click()
    await page.waitForURL(/sort=-cost/)
    expect(await first("Projects").textContent()).toContain("team/one")
    await open("/statistics?sort=-cost")
    expect(await page.locator("th[aria-sort=descending]").count()).toBeGreaterThan(0)
  })
})

describe("why nothing was posted", () => {
  it("is a named group, and the delivery names the rule and where it is set", async () => {
    await open("/deliveries")
    await page.getByRole("button", { name: /^draft/ }).click()
    await page.waitForURL(/reason=draft/)
    await page.locator("[data-index='0'] .row-link").click()
    await page.getByText("Nothing was posted: draft").waitFor()
    await page.getByText("review.skip_drafts is true").waitFor()
    await page.getByRole("link", { name: "default" }).click()
    await page.locator("#content h1", { hasText: "Configuration" }).waitFor()
    expect(await page.locator("[data-index='0']").textContent()).toContain("review.skip_drafts")
  })
})

describe("a delivery", () => {
  it("shows what the host sent without credentials, and is replayed", async () => {
    await open("/deliveries?reason=draft")
    await page.locator("[data-index='0'] .row-link").click()
    await page.getByRole("button", { name: "Show" }).click()
    await page.locator(".payload.tall", { hasText: '"draft": true' }).waitFor()
    expect(await page.locator("#content").textContent()).toContain("x-gitea-event: pull_request")
    const before = page.url()
    await page.getByRole("button", { name: "Replay" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click()
    await page.getByText("Replayed: draft").waitFor()
    await page.waitForURL((url) => url.href !== before)
    const [id, previous] = [page.url(), before].map((url) => new URL(url).pathname.split("/").at(-1) ?? "")
    await page
      .locator(".copy code", { hasText: id ?? "" })
      .first()
      .waitFor()
    expect(id).not.toBe(previous)
    await page.getByRole("link", { name: "the original delivery" }).click()
    await page.waitForURL((url) => url.href === before)
    await page.locator(".panel", { hasText: "Replays of this delivery" }).getByRole("link").click()
    await page.waitForURL((url) => url.pathname.endsWith(id ?? "-"))
  })
})

describe("a run", () => {
  it("is compared with the one before it, which has none", async () => {
    await open(paths[6]?.[1] ?? "")
    await page.getByRole("link", { name: "Compare with the previous run" }).click()
    // Invisible characters of its title and of its description are findings of their own.
    await page.locator(".panel", { hasText: "In both (3)" }).waitFor()
    const before = page.locator(".step-line", { hasText: "Compared with" }).getByRole("link")
    await before.click()
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/)
    await page.getByRole("button", { name: "Review again" }).waitFor()
    expect(page.url()).not.toContain(paths[6]?.[1])
    expect(await page.getByRole("link", { name: "Compare with the previous run" }).count()).toBe(0)
  })

  it("of a pull request is reviewed again", async () => {
    await open(paths[6]?.[1] ?? "")
    await page.getByRole("button", { name: "Review again" }).click()
    await page.getByText("Requested: queued").waitFor()
    await page.waitForURL(/\/deliveries\//)
    const id = new URL(page.url()).pathname.split("/").at(-1)
    expect((await world.admin.get(`/events/${id}`)).body).toMatchObject({ repo: "team/one", number: 1 })
  })

  it("is shared by a link that needs no login", async () => {
    await open(paths[6]?.[1] ?? "")
    await page.getByRole("button", { name: "Share", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Share" })
    const link = (await dialog.locator("code").textContent()) ?? ""
    expect(link.startsWith(`${publicAddress}/shared/`)).toBe(true)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await using stranger = await browser.context()
    const other = await stranger.newPage()
    await other.goto(link.replace(publicAddress, world.at.aicr.url))
    await other.getByText("Summary of first").waitFor()
    expect((await other.goto(`${link.replace(publicAddress, world.at.aicr.url)}x`))?.status()).toBe(404)
  })

  it("shows its log", async () => {
    await open(paths[6]?.[1] ?? "")
    await page
      .locator("section.panel", { has: page.getByRole("heading", { name: "Log", exact: true }) })
      .getByRole("button", { name: "Show" })
      .click()
    await page.locator(".log li").first().waitFor()
    expect(await page.locator(".log li").count()).toBeGreaterThan(1)
  })
})

describe("chat", () => {
  it("shows requests and notices with names of people and texts of platforms as they are", async () => {
    await open("/chat")
    const requests = page.getByRole("table", { name: "Requests" })
    await requests.getByText(`ou_${hostile[2]}`).first().waitFor()
    const notice = page.getByRole("table", { name: "Notices to operators" }).locator("[data-index='0']")
    await notice.getByText(hostile[0]).first().waitFor()
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined()
  })
})

describe("set-up", () => {
  it("shows the health of each trigger, and wrong signatures", async () => {
    await open("/setup")
    const row = (table: string, name: string) =>
      page.getByRole("region", { name: table }).locator("tbody tr", { hasText: name })
    const cells = await row("Triggers", "host-0").locator("td").allTextContents()
    const [trigger] = await world.admin.items("/triggers")
    expect(cells.slice(1, 7)).toEqual([
      "set",
      "set",
      "1",
      ...["deliveries_24h", "ignored_24h", "rejected_signatures_24h"].map((name) => String(trigger?.[name]))
    ])
    expect(Number(trigger?.["deliveries_24h"])).toBeGreaterThan(3)
    expect(await row("Triggers", "host-0").locator("time").getAttribute("datetime")).toBe(trigger?.["last_delivery_at"])
    expect(await row("Wrong signatures", "host-0").locator("td").nth(1).textContent()).toBe("1")
  })

  it("shows what searches found without a delivery, with the gap, and searches on request", async () => {
    const [foundAt, foundSince] = ["2026-01-31T11:00:00.000Z", "2026-01-31T09:00:00.000Z"]
    using records = new DatabaseSync(join(world.at.directory, "aicr.db"), { timeout: 10_000 })
    records
      .prepare("UPDATE catch_ups SET found = 3, found_at = ?, found_since = ?, found_for = 'refused'")
      .run(Date.parse(foundAt), Date.parse(foundSince))
    await open("/setup")
    const row = page
      .getByRole("region", { name: "Changes without a delivery" })
      .locator("tbody tr", { hasText: "host-0" })
    const times = await row.locator("time").evaluateAll((all) => all.map((one) => one.getAttribute("datetime")))
    const [trigger] = await world.admin.items("/triggers")
    const { last_at: searchedAt } = Object(trigger?.["catch_up"])
    expect(times).toEqual([foundSince, foundAt, trigger?.["last_delivery_at"], searchedAt])
    expect(await row.getByText("after refused deliveries").count()).toBe(1)
    expect(await row.locator("td").nth(3).textContent()).toBe("3")
    await page.getByRole("button", { name: "Search host-0" }).click()
    await waitUntil(
      async () => {
        const [one] = await world.admin.items("/triggers")
        const { last_at: at, occasion } = Object(one?.["catch_up"])
        return at !== searchedAt && occasion === "requested"
      },
      { timeout: 60_000, describe: () => world.at.aicr.log }
    )
  })

  it("shows the webhooks of each trigger, and what a person has to enter", async () => {
    await open("/setup")
    const row = page
      .getByRole("region", { name: "Repositories and webhooks" })
      .locator("tbody tr", { hasText: "host-0" })
    const cells = await row.locator("td").allTextContents()
    expect(cells.slice(0, 6)).toEqual(["host-0", "checked", "1", "0", "0", "1"])
    await page.getByRole("button", { name: "Show incomplete host-0" }).click()
    const listed = page.getByRole("region", { name: "Incomplete webhooks of host-0" })
    await listed.getByText("team/one").waitFor()
    expect(await listed.locator("td").nth(1).textContent()).toContain("webhooks")
    await page.locator(".panel", { hasText: "By hand" }).getByText(`${publicAddress}/webhooks/gitea`).waitFor()
    const before = Object((await world.admin.items("/triggers"))[0]?.["inventory"]).last_at
    await page.getByRole("button", { name: "Check webhooks host-0" }).click()
    await waitUntil(async () => Object((await world.admin.items("/triggers"))[0]?.["inventory"]).last_at !== before, {
      timeout: 60_000,
      describe: () => world.at.aicr.log
    })
  })

  it("checks a trigger at its host", async () => {
    await open("/setup")
    await page.getByRole("button", { name: "Check host-0" }).click()
    const dialog = page.getByRole("dialog", { name: "Check of host-0" })
    await dialog.locator("li", { hasText: "Host" }).first().waitFor()
    await page.keyboard.press("Escape")
    expect(await dialog.count()).toBe(0)
  })
})

describe("an edit of the configuration", () => {
  it("is checked and published, and its credential is nowhere shown", async () => {
    await open("/configuration?tab=edit")
    await page.getByLabel("Document").click()
    await clear()
    await page.keyboard.type("entiti")
    await page.locator(".cm-tooltip-autocomplete", { hasText: "entities" }).waitFor()
    await page.keyboard.press("Escape")
    await clear()
    await page.keyboard.type(
      "{entities: {triggers: {second: {kind: gitea, base_url: 'https://second.example', webhook_secret: literal-0815}}}}"
    )
    await page.getByRole("button", { name: "Check the edit" }).click()
    await page.getByText("triggers/second").first().waitFor()
    expect(await page.locator("#content").textContent()).toContain("Affected")
    await page.getByLabel("Reason").fill("another host")
    await page.getByRole("button", { name: "Publish" }).click()
    await page.getByText("Published as revision 1").waitFor()
    await page.getByRole("button", { name: "Revisions" }).click()
    await page.getByRole("link", { name: "Revision 1" }).waitFor()
    await open("/configuration/revisions/1")
    const shown = await page.locator("#content").textContent()
    expect(shown).toContain("another host")
    expect(shown).not.toContain("literal-0815")
  })
})

describe("forms of the configuration", () => {
  const edit = (name: string) => page.getByLabel(name, { exact: true })
  const check = async () => page.getByRole("button", { name: "Check the edit" }).click()
  const publish = async (reason: string) => {
    await page.getByLabel("Reason").fill(reason)
    await page.getByRole("button", { name: "Publish" }).click()
    await page.getByText("Published as revision").waitFor()
  }

  it("show a problem of the service at its field, and publish what is entered", async () => {
    await open("/configuration?tab=forms&kind=model_groups&new=1")
    await edit("name *").fill("fast")
    await page.getByRole("button", { name: "Add to models" }).click()
    await edit("provider *").fill("nowhere")
    await edit("model *").fill("small")
    await check()
    const problem = page.locator(".form-field", { hasText: "provider" }).locator(".form-error")
    await problem.waitFor()
    expect(await problem.textContent()).toContain("nowhere")
    expect(await edit("provider *").getAttribute("aria-invalid")).toBe("true")
    await edit("provider *").fill("fake")
    await check()
    await publish("a group for small changes")
    expect((await world.admin.get("/config")).body).toMatchObject({
      document: { entities: { model_groups: { fast: [{ provider: "fake", model: "small" }] } } }
    })
  })

  it("replace, keep and clear credentials without showing them, and say where a value is set", async () => {
    await open("/configuration?tab=forms&kind=triggers&name=second")
    const secret = page.locator(".form-field", { hasText: "Literal secret of incoming webhooks" })
    expect(await secret.textContent()).toContain("set")
    expect(await secret.locator(".origin").textContent()).toContain("database revision 1 by root")
    await secret.getByRole("button", { name: "Change or clear" }).click()
    expect(await secret.textContent()).toContain("will be cleared")
    await secret.locator("input").fill("literal-0816")
    expect(await secret.textContent()).toContain("will be replaced")
    expect(await secret.locator("input").getAttribute("type")).toBe("password")
    await check()
    await page.getByText("Changed values (1)").waitFor()
    expect(await page.locator("#content").textContent()).not.toContain("literal-081")
    await secret.getByRole("button", { name: "Keep the stored one" }).click()
    expect(await page.getByRole("button", { name: "Check the edit" }).isDisabled()).toBe(true)
  })

  it("are stored as a draft while they are filled in, which another page load continues", async () => {
    const saved = page.getByText("Saved as a draft")
    const newest = async () => (await world.admin.items("/config/drafts"))[0] ?? {}
    await open("/configuration?tab=forms&kind=triggers&name=second")
    const secret = page.locator(".form-field", { hasText: "Literal secret of incoming webhooks" })
    await secret.getByRole("button", { name: "Change or clear" }).click()
    await secret.locator("input").fill("literal-0999")
    await saved.waitFor()
    const draft = await newest()
    expect(JSON.stringify(draft)).not.toContain("literal-0999")
    expect(page.url()).toContain(`draft=${String(draft["id"])}`)
    const held = await page.evaluate("JSON.stringify([location.href, {...localStorage}, {...sessionStorage}])")
    expect(held).not.toContain("literal-0999")

    await page.reload()
    await settle()
    await secret.getByText("set", { exact: true }).waitFor()
    await edit("enabled").selectOption("false")
    await waitUntil(async () => (await newest())["version"] === 2, { describe: () => "the change is stored" })
    await page.getByRole("button", { name: "Revisions" }).click()
    await page.getByRole("link", { name: "Continue editing triggers/second" }).first().click()
    await secret.getByText("set", { exact: true }).waitFor()
    expect(await edit("enabled").inputValue()).toBe("false")

    const { base_revision, operations } = await newest()
    const theirs = { title: "theirs", base_revision, version: 2, operations }
    expect((await world.admin.put(`/config/drafts/${String(draft["id"])}`, theirs)).status).toBe(200)
    await edit("enabled").selectOption("true")
    await page.getByText("Not saved: another tab or user saved version 3").waitFor()
    await page.getByRole("button", { name: "Save mine as another draft" }).click()
    await saved.waitFor()
    const copy = await newest()
    expect(copy).toMatchObject({ title: "triggers/second", version: 1 })
    expect(copy["id"]).not.toBe(draft["id"])
    await check()
    await page.getByText("webhook_secret").last().waitFor()
    await publish("a new secret")
    await waitUntil(async () => (await newest())["id"] !== copy["id"], { describe: () => "the draft is gone" })
    const { head } = (await world.admin.get("/config")).body
    const { diff } = (await world.admin.get(`/config/revisions/${String(head)}`)).body
    expect(diff).toMatchObject([{ path: expect.stringContaining("enabled") }, { change: "changed" }])
  })

  it("are published from the list of drafts after what they change, and for which credentials, is shown", async () => {
    const headNow = async () => (await world.admin.get("/config")).body["head"]
    const before = await headNow()
    const entity = { kind: "triggers", name: "second" }
    const operations = [{ op: "set", entity, path: ["webhook_secret"], value: "literal-0555" }]
    const draft = { title: "from the list", base_revision: before, operations }
    expect((await world.admin.post("/config/drafts", draft)).status).toBeLessThan(300)
    await open("/configuration?tab=revisions")
    await page.getByRole("button", { name: "Publish from the list" }).click()
    const dialog = page.getByRole("dialog", { name: "Publish: from the list" })
    await dialog.getByText("Changed values (1)").waitFor()
    await dialog.locator(".panel", { hasText: "Credentials (1)" }).getByText("second.webhook_secret").waitFor()
    await dialog.locator(".panel", { hasText: "Affected" }).getByText("second", { exact: true }).waitFor()
    expect(await headNow()).toBe(before)
    await dialog.getByRole("button", { name: "Publish", exact: true }).click()
    await waitUntil(async () => (await headNow()) !== before, { describe: () => "the draft is published" })
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Publish from the list" }).waitFor({ state: "detached" })
  })

  it("let the user choose between values that collide", async () => {
    const entity = { kind: "channels", name: "chat" }
    const change = async (id: string, operations: ReadonlyArray<object>) => {
      const { head } = (await world.admin.get("/config")).body
      const { status } = await world.admin.post("/config/changesets", {
        base_revision: head,
        operation_id: id,
        operations
      })
      expect(status).toBeLessThan(300)
    }
    const value = { kind: "gitea_pr_review", min_severity: "info", max_comments: 10 }
    await change("create-channel", [{ op: "create", entity, value }])
    await open("/configuration?tab=forms&kind=channels&name=chat")
    await edit("min_severity").selectOption("high")
    await edit("max_comments").fill("30")
    await change("theirs", [
      { op: "set", entity, path: ["min_severity"], value: "low" },
      { op: "set", entity, path: ["max_comments"], value: 20 }
    ])
    await check()
    const row = (name: string) => page.locator("tr", { has: page.locator("th", { hasText: `chat.${name}` }) })
    await row("min_severity").waitFor()
    expect(await row("min_severity").textContent()).toMatch(/info.*low.*high/)
    await row("min_severity").getByLabel("Keep my value").check()
    await row("max_comments").getByLabel("Take their value").check()
    await page.getByRole("button", { name: "Apply the choice" }).click()
    await row("min_severity").waitFor({ state: "detached" })
    await publish("mine")
    expect((await world.admin.get("/config")).body).toMatchObject({
      document: { entities: { channels: { chat: { min_severity: "high", max_comments: 20 } } } }
    })
  })

  it("preview where deliveries go", async () => {
    await open("/configuration?tab=forms")
    await page.getByLabel("Repository").fill("team/one")
    await page.getByRole("button", { name: "Show" }).click()
    await page.locator(".facts", { hasText: "Reaches" }).getByText("team-one").waitFor()
    await page.getByLabel("Repository").fill("team/nowhere")
    await page.getByRole("button", { name: "Show" }).click()
    await page.getByText("no workspace: its deliveries are ignored").waitFor()
    expect(problems().filter((problem) => !/40[149]|422/.test(problem))).toEqual([])
  })
})

describe("a session that ends during an edit", () => {
  const renew = async () => {
    const dialog = page.getByRole("dialog", { name: "The session has ended" })
    await dialog.getByLabel("Password").fill(adminCredentials.password)
    await dialog.getByRole("button", { name: "Log in" }).click()
    await dialog.waitFor({ state: "detached" })
  }

  beforeAll(withoutLive)
  afterAll(withLive)

  it("leaves the document of the editor and the reason as they are", async () => {
    await open("/configuration?tab=edit")
    await page.getByLabel("Document").click()
    await clear()
    const text = "{entities: {channels: {kept: {kind: gitea_pr_review, max_comments: 7}}}}"
    await page.keyboard.type(text)
    await page.getByText("Saved as a draft").waitFor()
    await world.admin.post("/sessions/revoke", { keep_current: true })
    await page.getByRole("button", { name: "Check the edit" }).click()
    await renew()
    await page.getByText("channels/kept").first().waitFor()
    await page.getByLabel("Reason").fill("after a break")
    await world.admin.post("/sessions/revoke", { keep_current: true })
    await page.getByRole("button", { name: "Publish" }).click()
    await renew()
    await page.getByText("Published as revision").waitFor()
    expect((await world.admin.get("/config")).body).toMatchObject({
      document: { entities: { channels: { kept: { max_comments: 7 } } } }
    })
  })

  it("leaves the values of a form as they are", async () => {
    await open("/configuration?tab=forms&kind=channels&name=kept")
    await page.getByLabel("max_comments", { exact: true }).fill("8")
    await page.getByText("Saved as a draft").waitFor()
    await world.admin.post("/sessions/revoke", { keep_current: true })
    await page.getByRole("button", { name: "Check the edit" }).click()
    await renew()
    await page.getByText("Changed values (1)").waitFor()
    expect(await page.getByLabel("max_comments", { exact: true }).inputValue()).toBe("8")
  })
})

describe("a session that another browser ends", () => {
  it("is renewed over an idle page, whose live events end with it", async () => {
    await open("/queue")
    await page.locator(".connection-live").waitFor()
    await world.admin.post("/sessions/revoke", { keep_current: true })
    const dialog = page.getByRole("dialog", { name: "The session has ended" })
    await dialog.getByLabel("Password").fill(adminCredentials.password)
    await dialog.getByRole("button", { name: "Log in" }).click()
    await dialog.waitFor({ state: "detached" })
    await page.locator(".connection-live").waitFor()
    expect(await page.locator("#content h1").textContent()).toBe("Queue")
  })
})

describe("what needs attention", () => {
  it("is on the overview, and leads to where it is", async () => {
    await world.admin.post("/queue/pause", { workspace: "team-one" })
    await open("/")
    const item = (words: string | RegExp) => page.locator(".attention").getByRole("link", { name: words })
    await item("Paused: team-one").waitFor()
    for (const [words, address] of [
      ["Failed reviews in 24 hours: 1", /\/runs\?.*status=failed%2Ctimeout.*since=/],
      ["Queue entries that failed for good: 1", /\/queue\?status=dead/],
      ["Paused: team-one", /\/queue$/],
      ["Wrong signatures in 24 hours: 1", /\/setup$/],
      ["Deliveries without a workspace in 24 hours: 1", /\/deliveries\?.*reason=repository_not_configured/]
    ] as const) {
      await item(words).waitFor()
      expect(await item(words).getAttribute("href")).toMatch(address)
    }
    await world.admin.post("/queue/resume", { workspace: "team-one" })
  })

  it("names model providers that reviews wait for, budgets that are used up, and chat connections that fail", async () => {
    const change = (path: string, edit: (item: Record<string, unknown>) => Record<string, unknown>) =>
      page.route(path, async (route) => {
        const response = await route.fetch()
        const body = await response.json()
        await route.fulfill({ response, json: { ...body, items: body.items.map(edit) } })
      })
    const reason = { _tag: "ProviderUnreachable", reason: { _tag: "Text", text: "connect ECONNREFUSED" } }
    await change("**/api/admin/runs?*", (run) => ({ ...run, waiting_since: run["created_at"], reason }))
    await change("**/api/admin/budgets", (budget) => ({ ...budget, spent_usd: 5, limit_usd: 5 }))
    await change("**/api/admin/chat/connections", (connection) => ({ ...connection, state: "failing" }))
    await open("/")
    const item = (words: RegExp) => page.locator(".attention").getByRole("link", { name: words })
    for (const [words, address] of [
      [/^Reviews that wait for a model provider that cannot be reached: [1-9]/, /\/providers$/],
      [/^Budgets of the day that are used up: [1-9]/, /\/configuration$/],
      [/^Chat connections that do not work: [a-z]/, /\/chat$/]
    ] as const) {
      await item(words).waitFor()
      expect(await item(words).getAttribute("href")).toMatch(address)
    }
    expect(await item(/refuses requests/).count()).toBe(0)
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })
})

describe("characters that people do not see", () => {
  it("are shown by name in texts of strangers", async () => {
    for (const path of ["/changes", "/runs", ...[2, 6].map((at) => paths[at]?.[1] ?? "")]) {
      await open(path)
      await page.getByText("turned[U+202E]txt.exe").first().waitFor()
      expect(await page.locator("#content").textContent()).not.toContain("\u202e")
    }
  })
})

describe("actions", () => {
  it("drain a node, which names its last error, and resume it", async () => {
    await open("/nodes")
    const error = page.getByRole("region", { name: "Nodes" }).getByText("last error").getByRole("link")
    expect(await error.getAttribute("href")).toMatch(/\/runs\/[0-9a-f-]{36}$/)
    await page.getByRole("button", { name: "Drain" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click()
    await page.getByText(/still runs reviews: 1|is drained/).waitFor()
    await page.getByRole("region", { name: "Nodes" }).getByText("paused").waitFor()
    const { pauses } = (await world.admin.get("/queue")).body
    expect(pauses).toMatchObject([{ scope: "node" }])
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByRole("region", { name: "Nodes" }).getByText("active").waitFor()
  })

  it("on many entries of the queue say which ones before they change them", async () => {
    await open("/queue?status=dead")
    await page
      .getByRole("checkbox", { name: /^Select/ })
      .first()
      .check()
    expect(new URL(page.url()).searchParams.get("selected")).toMatch(/^[0-9a-f-]{36}$/)
    await page
      .getByRole("checkbox", { name: /^Select/ })
      .first()
      .uncheck()
    await page.getByRole("button", { name: /^Retry all/ }).click()
    const dialog = page.getByRole("dialog", { name: "Retry 1" })
    await dialog.locator(".preview li", { hasText: "team/one#" }).waitFor()
    await dialog.getByRole("button", { name: "Retry 1" }).click()
    await page.getByText("Requeued: 1").waitFor()
  })

  it("pause everything, cancel one entry with a reason, and everything else", async () => {
    await open("/queue")
    await page.getByRole("button", { name: "Pause a workspace" }).click()
    const every = page.getByRole("dialog").locator("select option")
    const names = (await every.allTextContents()).filter((name) => name !== "All workspaces")
    if (names.length > 1) await page.getByRole("dialog").locator("select").selectOption("All workspaces")
    await page.getByRole("dialog").getByRole("button", { name: "Pause a workspace" }).click()
    for (const name of names) await page.locator(".pause", { hasText: `Workspace ${name} is paused` }).waitFor()
    for (const name of ["waits-1", "waits-2"]) {
      await world.at.push(name, 1)
      await world.at.forge.notify(
        await world.at.forge.createPull("team/one", { headBranch: name, title: name }),
        "opened"
      )
    }
    // The entries appear by events.
    const box = page.getByRole("checkbox", { name: /^Select/ })
    await waitUntil(async () => (await box.count()) >= 3, { describe: () => "the queue is not live" })
    await box.last().check()
    const id = new URL(page.url()).searchParams.get("selected") ?? ""
    await page.reload()
    await settle()
    await page.locator("#content input:checked").waitFor()
    await page.getByRole("button", { name: "Cancel 1" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.locator(".preview li", { hasText: "team/one#" }).waitFor()
    await dialog.getByLabel("Reason").fill("not needed")
    await dialog.getByRole("button", { name: "Cancel 1" }).click()
    await page.getByText("Cancelled: 1").waitFor()
    // One that runs is cancelled by its node.
    const read = async () => (await world.admin.get(`/queue/${id}`)).body
    await waitUntil(async () => (await read())["status"] === "cancelled", { describe: () => "the entry is cancelled" })
    const reason = { _tag: "CancelledBy", name: "root", reason: { _tag: "Text", text: "not needed" } }
    expect((await read())["why"]).toEqual({ _tag: "Ended", status: "cancelled", reason })
    await page.getByRole("button", { name: "Cancel all: Waiting and running" }).click()
    await dialog.locator(".preview li").first().waitFor()
    await dialog.getByRole("button", { name: /^Cancel \d/ }).click()
    await page
      .getByText(/^Cancelled: \d/)
      .last()
      .waitFor()
    await page.getByText("Nothing waits").waitFor()
    for (const name of names) await world.admin.post("/queue/resume", { workspace: name })
  })

  it("erase a person after what is erased, and what stays, is shown", async () => {
    using records = new DatabaseSync(join(world.at.directory, "aicr.db"), { timeout: 10_000 })
    const views = () => records.prepare("SELECT id FROM saved_views WHERE owner = 'oidc:ann'").all()
    records.exec("INSERT INTO saved_views VALUES ('v1', 'oidc:ann', '/runs', 'Mine', 'q=ann', 1)")
    await open("/audit")
    await page.getByRole("button", { name: "Erase a person" }).click()
    const dialog = page.getByRole("dialog", { name: "Erase a person" })
    const show = async (person: string) => {
      await dialog.getByRole("textbox").fill(person)
      await dialog.getByRole("button", { name: "Show" }).click()
      await dialog.getByText("What stays").waitFor()
    }
    // A person without a record cannot be erased.
    await show("administrator:bob")
    expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true)
    await show("administrator:ann")
    await dialog.getByText("1 saved view: removed").waitFor()
    expect(await searchViolations(page, "dialog")).toEqual([])
    expect(views()).toHaveLength(1)
    await dialog.getByRole("button", { name: "Delete" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(views()).toEqual([])
    await page.locator("[data-index='0']", { hasText: "people.erase" }).waitFor()
  })

  it("delete a project and restore it", async () => {
    await open("/projects?sort=-cost")
    await page.getByRole("button", { name: "Delete team/one" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Restore team/one" }).click()
    await page.getByText("team/one was restored").waitFor()
    await page.getByRole("button", { name: "Delete team/one" }).waitFor()
    await open("/audit?action=projects.restore")
    expect(await page.locator("[data-index='0']").textContent()).toContain("projects.restore")
  })
})

describe("live", () => {
  it(
    "a request, its delivery, its review and its sums appear on every page that shows them",
    { timeout: 60_000 },
    async () => {
      const number = world.at.forge.repository("team/one").pulls.size + 1
      const name = `team/one#${number}`
      const shown: ReadonlyArray<readonly [path: string, locator: (on: Page) => Locator]> = [
        ["/", (on) => on.locator(".panel", { hasText: "Latest reviews" }).getByText(name)],
        ["/changes", (on) => on.locator(".row-link", { hasText: name })],
        [`/change?repo=team/one&number=${number}`, (on) => on.getByRole("link", { name: /^Review/ })],
        ["/deliveries", (on) => on.locator(".row-link", { hasText: name })],
        ["/runs", (on) => on.locator(".row-link", { hasText: name })],
        ["/queue?status=all", (on) => on.locator(".row-link", { hasText: name })],
        ["/chat", (on) => on.getByRole("table", { name: "Requests" }).getByText("review app#1 live")]
      ]
      const sums = ["/projects", "/statistics"]
      // A browser has few connections to a host.
      const contexts = await Promise.all([1, 2, 3].map(() => browser.signedIn(world.admin.token)))
      const tabs = await Promise.all(
        [...shown.map(([path]) => path), ...sums].map(async (path, index) => {
          const tab = await (contexts[index % contexts.length] ?? context).newPage()
          await tab.goto(`${world.url}${path}`)
          await tab.locator(".connection-live").waitFor()
          await tab.locator("#content .loading").first().waitFor({ state: "detached" })
          return tab
        })
      )
      const ofSums = () => Promise.all(tabs.slice(shown.length).map((tab) => tab.locator("#content").textContent()))
      const before = await ofSums()
      await world.at.push("live", 1)
      await world.at.forge.notify(
        await world.at.forge.createPull("team/one", { headBranch: "live", title: "Add live" }),
        "opened"
      )
      await world.chat("review app#1 live")
      for (const [index, [, locate]] of shown.entries()) {
        const tab = tabs[index]
        if (tab !== undefined) await locate(tab).first().waitFor()
      }
      expect(before).toHaveLength(2)
      await waitUntil(async () => (await ofSums()).every((text, index) => text !== before[index]), {
        describe: () => "sums are not live"
      })
      for (const one of contexts) await one.close()
    }
  )

  it("a run that is cancelled from its page ends on it", async () => {
    await world.at.push("running", 1)
    const pull = await world.at.forge.createPull("team/one", { headBranch: "running", title: "Runs" })
    await world.at.forge.notify(pull, "opened")
    await waitUntil(async () => (await world.admin.items("/runs?status=analyzing")).length > 0, {
      describe: () => world.at.aicr.log.slice(-3000)
    })
    await open(`/runs/${String((await world.admin.items("/runs?status=analyzing"))[0]?.["id"])}`)
    await page.getByRole("button", { name: "Cancel the run" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click()
    await page.getByText("The run is being ended").waitFor()
    await page.locator(".page-note", { hasText: "cancelled" }).waitFor()
    expect(await page.getByRole("button", { name: "Cancel the run" }).count()).toBe(0)
  })

  it("a delivery appears without a reload", async () => {
    await open("/deliveries")
    const number = world.at.forge.repository("team/one").pulls.size + 1
    await world.at.push("later", 1)
    const pull = await world.at.forge.createPull("team/one", { headBranch: "later", title: "Later" })
    await world.at.forge.notify(pull, "opened")
    const row = page.locator(".row-link", { hasText: `team/one#${number}` })
    await row.waitFor()
    expect(await row.isVisible()).toBe(true)
  })
})

describe("a refused configuration", () => {
  it("is on the overview, which leads to the node that refuses it", async () => {
    const file = join(world.at.directory, "config.yaml")
    const accepted = readFileSync(file, "utf8")
    writeFileSync(file, `${accepted}\nunknown_namespace: 1\n`)
    await waitUntil(async () => JSON.stringify((await world.admin.items("/nodes"))[0]).includes("config.yaml"), {
      describe: () => world.at.aicr.log.slice(-3000)
    })
    await open("/")
    await page.getByRole("link", { name: /^Configuration refused.*config\.yaml:\d+/ }).click()
    await page.getByText(/config\.yaml:\d+ is refused with 1 errors/).waitFor()
    expect(await page.locator("#content h1").textContent()).toBe("Nodes")
    writeFileSync(file, accepted)
    await waitUntil(async () => !JSON.stringify((await world.admin.items("/nodes"))[0]).includes("config.yaml"), {
      describe: () => world.at.aicr.log.slice(-3000)
    })
  })
})

describe("every page", () => {
  it(
    "has no accessibility violation in either theme, no overflow at 390 px and runs nothing of outsiders",
    { timeout: 300_000 },
    async () => {
      const found: Array<string> = []
      // Texts of administrators are shown to other administrators.
      const draft = { title: hostile[1], reason: hostile[2], base_revision: 0, operations: [] }
      const operations = [
        { op: "create", entity: { kind: "channels", name: "mail" }, value: { kind: "gitea_pr_review" } }
      ]
      expect((await world.admin.post("/config/drafts", { ...draft, operations })).status).toBe(201)
      expect((await world.admin.post("/queue/pause", { workspace: "team-one", reason: hostile[0] })).status).toBe(200)
      for (const [name, path] of paths) {
        await open(path)
        expect(await page.locator("#content h1").textContent()).toContain(name)
        found.push(...(await searchViolations(page, "html")).map((violation) => `${path} ${violation}`))
        await page.setViewportSize({ width: 390, height: 800 })
        await settle()
        // Every control of a page is reachable without a mouse, and shows that it has the focus.
        expect([path, await unreachable()]).toEqual([path, []])
        if ((await page.evaluate("document.documentElement.scrollWidth > innerWidth")) === true)
          found.push(`${path} overflows`)
        await page.setViewportSize({ width: 1280, height: 800 })
      }
      expect(found).toEqual([])
      await world.admin.post("/queue/resume", { workspace: "team-one" })
      expect(await page.evaluate("globalThis.attacked")).toBeUndefined()
      expect(problems().filter((problem) => !/40[149]|422/.test(problem))).toEqual([])
    }
  )
})

describe("languages", () => {
  it("the pages are in Chinese once it is selected", async () => {
    await open("/")
    await page.locator(".user-menu summary").click()
    await page.getByLabel("Language").selectOption("zh-CN")
    await page.locator("#content h1", { hasText: "概览" }).waitFor()
    expect(await page.evaluate("document.documentElement.lang")).toBe("zh-CN")
    await page.locator(".user-menu summary").click()
    await page.getByLabel("语言").selectOption("en")
  })
})

describe("logging out", () => {
  it("everywhere ends the other sessions, and this one if it is not kept", async () => {
    const everywhere = async (keeps: boolean) => {
      const other = await AdminSession.open(world.at.aicr.url)
      await open("/")
      await page.locator(".user-menu summary").click()
      await page.getByRole("button", { name: "Log out everywhere" }).click()
      // The dialog of an ended session may appear before this one is gone.
      const dialog = page.getByRole("dialog", { name: "Log out everywhere" })
      if (!keeps) await dialog.getByLabel("Keep this session").uncheck()
      await dialog.getByRole("button", { name: "End sessions" }).click()
      await dialog.waitFor({ state: "detached" })
      expect((await other.get("/runs")).status).toBe(401)
    }
    await everywhere(true)
    await page.getByText(/^Ended sessions: \d/).waitFor()
    expect(await page.getByLabel("Password").count()).toBe(0)
    await everywhere(false)
    await logIn(page)
    await page.locator("#content h1", { hasText: "Overview" }).waitFor()
  })

  it("ends the session in every tab", async () => {
    const other = await context.newPage()
    await other.goto(`${world.url}/nodes`)
    await other.locator("#content h1", { hasText: "Nodes" }).waitFor()
    await open("/")
    await page.locator(".user-menu summary").click()
    await page.getByRole("button", { name: "Log out", exact: true }).click()
    await Promise.all([page, other].map((one) => one.getByRole("button", { name: "Log in" }).waitFor()))
    expect(await other.evaluate("sessionStorage.length")).toBe(0)
  })
})
