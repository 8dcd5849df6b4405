/**
 * Counts the work of a review, of a reply, of a command, and of a second at rest: numbers that do not depend on the machine. A change that adds work changes a number here, with its
 * reason. Hosts.test.ts has the requests for every kind of host.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { countingEnv, countsBetween, readCounts, settledCounts, sumCounts, withoutPolls } from "../harness/Counts.ts"
import type { Counts, NamedCounts } from "../harness/Counts.ts"
import { honest, Installation, renderContent, toFilePath } from "../harness/Installation.ts"
import type { InstallationOptions } from "../harness/Installation.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

/** A function that calls the one of the next file. Versions have other parameters, so that its uses are searched. */
const renderFile = (index: number, version: number): string =>
  [
    `import { value${index + 1} } from "./file${index + 1}.ts"`,
    "",
    `/** Returns number ${index}. */`,
    `export const value${index} = (${version === 0 ? "" : `extra: number`}): number => {`,
    ...Array.from({ length: 30 }, (_, line) => `  const step${line} = value${index + 1}() + ${line} * ${version}`),
    "  return step29",
    "}",
    ""
  ].join("\n")
const renderFiles = (count: number, version: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/file${at}.ts`, renderFile(at, version)]))

/** Readers of git end after ten idle seconds, and start again in the review of a busy machine. */
const withoutReaders = (programs: NamedCounts): NamedCounts =>
  Object.fromEntries(
    Object.entries(programs).filter(([command]) => !/cat-file --batch|diff-tree --stdin/.test(command))
  )

/** An installation that has run two reviews: its threads and readers of git exist. */
class CountedInstallation implements AsyncDisposable {
  readonly #requests: Array<string> = []
  #reviews = 0
  #reviewedAt = 0

  readonly at: Installation
  readonly folder: string

  private constructor(at: Installation, folder: string) {
    this.at = at
    this.folder = folder
    at.host.onRequest = ({ method, path }) => void this.#requests.push(`${method} ${path}`)
  }

  static async start(
    database?: string,
    options: Pick<InstallationOptions, "env" | "server"> = {}
  ): Promise<CountedInstallation> {
    const folder = await mkdtemp(join(tmpdir(), "aicr-counts-"))
    const port = database === undefined ? undefined : Number(new URL(database).port)
    const env = { ...countingEnv(join(folder, "counts"), port), SVC_LOG_LEVEL: "warn", ...options.env }
    const at = await Installation.make({
      queue: "memory",
      // The search of the start is the only one.
      catchUpSeconds: 0,
      ...options,
      env,
      ...(database === undefined ? {} : { database })
    })
    const counted = new CountedInstallation(at, folder)
    await at.forge.push("team/one", { branch: "main", from: "main", message: "Files", files: renderFiles(80, 0) })
    at.forge.setPermission("team/one", "dana", "write")
    at.model.script((request) =>
      request.text.includes("Write the reply to the last comment")
        ? { calls: [{ name: "reply", input: { outcome: "replied", text: "Because." } }] }
        : honest(request)
    )
    await at.aicr.start()
    await counted.#searched()
    await counted.review(1)
    await counted.review(1)
    return counted
  }

  read(): Promise<Counts> {
    return readCounts(join(this.folder, "counts"))
  }

  async restart() {
    await this.at.aicr.stop()
    await rm(join(this.folder, "counts"), { force: true })
    await this.at.aicr.start()
    await this.#searched()
  }

  /** Waits for the end of the search for missed changes, which each start makes. */
  async #searched() {
    const isEnd = (statement: string) => statement.startsWith('INSERT INTO catch_ups ("trigger_name","searched_at"')
    await waitUntil(async () => Object.keys((await this.read()).statements).some(isEnd), {
      timeout: 60_000,
      describe: () => this.at.aicr.log.slice(-4000)
    })
  }

  #settled(earlier: Counts) {
    return settledCounts(join(this.folder, "counts"), earlier)
  }

  /** Counts the work of one review of a change of `size` files with one finding. */
  async review(size: number) {
    const version = ++this.#reviews
    const name = `change-${version}`
    await this.at.forge.push("team/one", {
      branch: name,
      from: "main",
      message: name,
      files: { ...renderFiles(size - 1, version), [toFilePath(name)]: renderContent(name, 1) }
    })
    return this.#count(await this.at.forge.createPull("team/one", { headBranch: name, title: name }), "opened")
  }

  /** Counts the work of a push to a reviewed change, and of a rebase of it that leaves its patches as they are. */
  async reviewAgain() {
    const name = `again-${++this.#reviews}`
    const files = (version: number) => ({ [toFilePath(name)]: renderContent(name, version) })
    const push = (version: number, from?: string) =>
      this.at.forge.push("team/one", {
        branch: name,
        message: name,
        ...(from === undefined ? {} : { from }),
        files: files(version)
      })
    await push(1, "main")
    const pull = await this.at.forge.createPull("team/one", { headBranch: name, title: name })
    await this.#count(pull, "opened")
    await push(2)
    const pushed = await this.#count(pull, "synchronized")
    await this.at.forge.push("team/one", { branch: "main", message: "Base", files: { "base.txt": name } })
    await push(2, "main")
    return { pushed, rebased: await this.#count(pull, "synchronized") }
  }

  /** Counts the work of a comment that gets one text below the change. */
  async comment(body: string) {
    const { forge } = this.at
    const pull = [...forge.repository("team/one").pulls.values()].at(-1)
    if (pull === undefined) throw new Error("nothing was reviewed")
    const earlier = await this.read()
    this.#requests.length = 0
    const before = pull.comments.length
    const { id } = forge.comment(pull, body)
    await forge.send(forge.delivery({ kind: "comment", pull, body, sender: forge.user("dana"), id }))
    await waitUntil(() => pull.comments.length === before + 2, { describe: () => this.at.aicr.log.slice(-4000) })
    const { commits, statements } = await this.#settled(earlier)
    const requests = this.#requests.map((request) => request.replace("/repos/team/one", "").replaceAll(/\d+/g, "N"))
    return { requests: requests.toSorted(), statements: sumCounts(statements), commits: sumCounts(commits) }
  }

  async #count(pull: DemoPull, action: "opened" | "synchronized") {
    const earlier = await this.read()
    this.#requests.length = 0
    await this.at.forge.notify(pull, action)
    await this.at.reviewed(pull)
    const paused = performance.now() - this.#reviewedAt
    this.#reviewedAt = performance.now()
    const { commits, programs, statements, totals } = await this.#settled(earlier)
    return {
      requests: this.#requests.length,
      statements: sumCounts(statements),
      commits: sumCounts(commits),
      programs: sumCounts(paused < 9000 ? programs : withoutReaders(programs)),
      threads: totals["threads"] ?? 0,
      messages: totals["messages"],
      parses: totals["parses"],
      scrubbed: totals["scrubbedCharacters"],
      hmacs: totals["hmacs"]
    }
  }

  /** Returns the statements of some seconds at rest, and how many it were: a busy machine reads the counts late. */
  async rest(seconds: number): Promise<{ readonly statements: NamedCounts; readonly seconds: number }> {
    const earlier = await this.read()
    const startedAt = performance.now()
    await sleep(seconds * 1000)
    const { statements } = countsBetween(earlier, await this.read())
    return { statements, seconds: (performance.now() - startedAt) / 1000 }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.at[Symbol.asyncDispose]()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Work of one review, by the number of files of the change. */
const expected = {
  /** Gitea: the pull request three times, its base branch for the rules, comments that are not published, and four writes. */
  requests: { 1: 9, 12: 9, 60: 9 },
  /**
   * Whether the head was reviewed before, the receipt, the entry, the run, the outbox with four publications, outcomes and statistics, and the
   * steps of the run with their times; the same for every size.
   */
  statements: { SQLite: 50, Postgres: 53 },
  /**
   * Each change of the state of a publication is one, so that a kill between two of them repeats nothing. The pending status is stored with the
   * beginning of the run, the outcome of the delivery with the analysis, and the end of the run with that of its last publication.
   */
  commits: { SQLite: 16, Postgres: 16 },
  /** `git fetch`, and `git grep` for the uses of changed names. Readers of git are running. */
  programs: { 1: 1, 12: 2, 60: 2 },
  /** Starts of threads: those of an earlier review are used again. */
  threads: { 1: 0, 12: 0, 60: 0 },
  /** Starts of threads after a restart: one for the change and its record, and the parser. */
  threadsAgain: 2,
  /**
   * Messages in both directions between the service, the thread of the change and the parser: up to 16 files share one; two for the lines that
   * the round read.
   */
  messages: { 1: 90, 12: 126, 60: 230 },
  /** Each content once: both versions of the files, and the files that use their changed names, as far as no earlier review has parsed them. */
  parses: { 1: 1, 12: 23, 60: 108 },
  /** The new versions of the files. */
  parsesAgain: 12,
  /** Characters: the diff and the files that are recorded by line, the lines that use changed names, and texts of the model. */
  scrubbed: { 1: 665, 12: 64_470, 60: 349_542 },
  /**
   * The signature of the delivery, the words that fence the prompt and what is verified blind, the secret of the lines that were read, and that of
   * findings that only maintainers get.
   */
  hmacs: { 1: 5, 12: 5, 60: 5 }
}

/** Right of the person to write, which a team may grant. */
const rights = ["GET /collaborators/dana/permission", "GET /teams"]

/** Work of one comment below a change at Gitea. */
const expectedOfComments = {
  /** The conversation, the change, a reaction, and the text, which is searched for before it is written. A receipt, an entry, a run with its steps, two publications. */
  "@aicr why?": {
    requests: [
      ...rights,
      "GET /issues/N",
      "GET /issues/N/comments",
      "GET /issues/N/comments",
      "GET /issues/comments/N",
      "GET /pulls/N",
      "POST /issues/N/comments",
      "POST /issues/comments/N/reactions"
    ],
    statements: { SQLite: 36, Postgres: 37 },
    commits: { SQLite: 13, Postgres: 13 }
  },
  /** A reaction at the beginning and at the end, and the text, which is searched for before it is written. A receipt without an entry. */
  "/aicr help": {
    requests: [
      ...rights,
      "GET /issues/N/comments",
      "POST /issues/N/comments",
      "POST /issues/comments/N/reactions",
      "POST /issues/comments/N/reactions"
    ],
    statements: { SQLite: 8, Postgres: 8 },
    commits: { SQLite: 3, Postgres: 3 }
  }
}

const stores = ["SQLite", "Postgres"] as const
/** Stores at which a service at rest is watched, which takes most of a minute with AICR_TEST_BACKENDS=all. */
const watched = takeTurn("AICR_TEST_BACKENDS", stores)

describe.each(stores)("with records in %s", (store) => {
  let database: PostgresServer | undefined
  let counted: CountedInstallation
  beforeAll(async () => {
    if (store === "Postgres") database = await PostgresServer.start()
    counted = await CountedInstallation.start(database?.url)
  })
  afterAll(async () => {
    await counted?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  it.each([1, 12, 60] as const)("a review of %i files costs exactly this", async (size) => {
    const { commits, parsesAgain: _, threadsAgain: __, statements, ...others } = expected
    expect(await counted.review(size)).toEqual({
      ...Object.fromEntries(Object.entries(others).map(([name, counts]) => [name, counts[size]])),
      statements: statements[store],
      commits: commits[store]
    })
  })

  it.each(["@aicr why?", "/aicr help"] as const)("the reply to `%s` costs exactly this", async (body) => {
    const { commits, requests, statements } = expectedOfComments[body]
    expect(await counted.comment(body)).toEqual({
      requests: requests.toSorted(),
      statements: statements[store],
      commits: commits[store]
    })
  })

  it("a rebase that changes no patch costs no request and no statement that the review of a push does not cost", async () => {
    const { pushed, rebased } = await counted.reviewAgain()
    for (const name of ["requests", "statements", "commits"] as const)
      expect([name, rebased[name] <= pushed[name]]).toEqual([name, true])
    // `git merge-base`, because the base is another one.
    expect(rebased.programs).toBe(pushed.programs + 1)
  })

  it.runIf(watched.includes(store))(
    "at rest, one statement in two seconds reads what a crash or a lost message may have left",
    async () => {
      const { seconds, statements } = await counted.rest(24)
      expect(Object.keys(withoutPolls(statements))).toEqual([])
      // Two sweeps of Housekeeping at most, and rarer polls.
      expect(sumCounts(statements)).toBeLessThanOrEqual(seconds)
      expect(sumCounts(statements)).toBeGreaterThan(0)
    }
  )

  it("a review after a restart starts two threads and parses the files of its change: the others are in the index of the repository", async () => {
    await counted.restart()
    const { parses, threads } = await counted.review(12)
    expect({ parses, threads }).toEqual({ parses: expected.parsesAgain, threads: expected.threadsAgain })
  })
})

describe("with a key of statements", () => {
  let counted: CountedInstallation
  beforeAll(async () => {
    const env = { TEST_STATEMENT_KEY: makeStatementKey().pem }
    counted = await CountedInstallation.start(undefined, { env, server: signing })
  })
  afterAll(() => counted?.[Symbol.asyncDispose]())

  it("a review stores one object more, and sends no request more", async () => {
    const objects = join(counted.at.directory, "objects")
    const before = storedStatements(objects).size
    const { requests } = await counted.review(1)
    // The statement of its verdict.
    expect(storedStatements(objects).size).toBe(before + 1)
    expect(requests).toBe(expected.requests[1])
  })
})
