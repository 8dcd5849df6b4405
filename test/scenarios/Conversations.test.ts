/**
 * Conversations at each host, with the real process: a question in the thread of a finding, and one below the change, get one reply each, in their
 * place; an objection that the code proves withdraws the finding; a command explains findings by their numbers; outsiders, thanks and people who talk to one another get no sentence. Then the
 * people are erased, also after kills in the middle. A process
 * that is killed at a write replies once all the same: four kills on Gitea, 100 on every host with AICR_TEST_CONVERSATIONS=all.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished } from "vitest"
import type { Fault } from "../../demo/DemoForge.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { programFolder } from "../harness/AicrProcess.ts"
import type { AicrProcess } from "../harness/AicrProcess.ts"
import { getConversations } from "../harness/FakeHostConversations.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { startReviewed, writeComment } from "../harness/ReviewedChange.ts"
import { runAicr } from "../harness/RunAicr.ts"
import { isWhole as isWholeOf, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const isWhole = isWholeOf("AICR_TEST_CONVERSATIONS")

/** The second finding, which only the summary has. */
const untyped = {
  file: "cart.ts",
  line: 1,
  severity: "low",
  category: "bug",
  title: "Untyped total",
  message: "The total has no type.",
  quote: "export const total = (items) => {"
}

/** Lists everything that a service has stored: rows of its records and of its queue, and its objects. */
const listStored = (folder: string): ReadonlyArray<string> => {
  const rows = ["aicr.db", "queue.db"].flatMap((file) => {
    const database = new DatabaseSync(join(folder, file), { readOnly: true, timeout: 5000 })
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    const found = tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT * FROM ${String(name)}`)
        .all()
        .map((row) => `${String(name)} ${JSON.stringify(row)}`)
    )
    database.close()
    return found
  })
  const objects = join(folder, "objects")
  const files = readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return [...rows, ...files.map(({ name, parentPath }) => readFileSync(join(parentPath, name), "utf8"))]
}

const countObjects = (folder: string): number =>
  readdirSync(join(folder, "objects"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length

/** Lists the outcomes of erasures, as the audit has them. */
const listErasures = (folder: string): ReadonlyArray<unknown> => {
  using database = new DatabaseSync(join(folder, "aicr.db"), { readOnly: true, timeout: 5000 })
  return database
    .prepare("SELECT outcome FROM admin_actions WHERE action = 'people.erase' ORDER BY id")
    .all()
    .map(({ outcome }) => outcome)
}

/**
 * Kills the service while it erases a person, and then the command while it does so itself: an update that never ends holds them after prompts are
 * removed and before rows change.
 */
const killWhileErasing = async (
  aicr: AicrProcess,
  args: ReadonlyArray<string>,
  { describe, env, folder }: { readonly folder: string; readonly env: object; readonly describe: () => string }
): Promise<void> => {
  using database = new DatabaseSync(join(folder, "aicr.db"), { timeout: 5000 })
  database.exec(`CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;
    CREATE TRIGGER held BEFORE UPDATE ON publications BEGIN SELECT count(*) FROM endless; END`)
  const before = countObjects(folder)
  const interrupted = runAicr(args, { env: { ...env } })
  await waitUntil(() => countObjects(folder) < before, { timeout: 60_000, describe })
  await aicr.kill()
  expect((await interrupted).code).not.toBe(0)
  const argv = ["--disable-warning=ExperimentalWarning", `${programFolder}/src/main.mjs`, ...args]
  const command = spawn(`${programFolder}/node_modules/.bin/node`, argv, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: "ignore"
  })
  const ended = once(command, "exit")
  await waitUntil(() => listErasures(folder).length === 2, { timeout: 60_000, describe })
  command.kill("SIGKILL")
  await ended
  database.exec("DROP TRIGGER held; DROP VIEW endless")
  await aicr.start()
}

// ConversationCommands.test.ts takes one of the other hosts.
it.each(isWhole ? ForgeKind.literals : takeTurn("AICR_TEST_CONVERSATIONS", ["gitea", "gitlab"] as const))(
  "people and the service converse at %s",
  async (kind) => {
    const { aicr, comment, configFile, describe, forge, model, pull, replies, repository, settled, stop } =
      await startReviewed(kind, { findings: [untyped] })
    onTestFinished(stop)
    // GitLab has replies to comments below the change in threads of their own.
    const below = (words = "sum of nothing") =>
      [...pull.comments, ...[...getConversations(repository).replies.values()].flat()].filter(
        ({ body, user }) => user.login === "aicr" && body.includes(words)
      )

    const first = await writeComment(forge, pull, "ada", "Why is that a problem?", comment)
    await waitUntil(() => replies().length === 1, { timeout: 30_000, describe })
    expect(replies()[0]?.body).toContain("Because the sum of nothing is undefined.")
    await waitUntil(() => getConversations(repository).reactions.some((one) => one.comment === first), { describe })

    await writeComment(forge, pull, "ada", "@aicr what does it do?")
    await waitUntil(() => below().length === 1, { timeout: 30_000, describe })

    // None of these gets a sentence. The last one does, so that all of them were decided.
    await writeComment(forge, pull, "eve", "@aicr and tests?")
    await writeComment(forge, pull, "ada", "I do not like it.")
    await writeComment(forge, pull, "ada", "Thanks!", comment)
    await writeComment(forge, pull, "ada", "@bob and you?", comment)
    await writeComment(forge, pull, "ada", "An empty cart returns early.", comment)
    await waitUntil(() => replies().length === 2, { timeout: 30_000, describe })
    expect(replies()[1]?.body).toContain("**Withdrawn.**\n\nYou are right.")
    await waitUntil(() => getThread(comment).body?.includes("Withdrawn") === true, { timeout: 30_000, describe })
    expect(below()).toHaveLength(1)
    const replyCalls = () => model.requests.filter(({ text }) => text.includes("Write the reply"))
    expect(replyCalls()).toHaveLength(3)

    // Commands in quotations and in code are none. Comments after them are decided later.
    await writeComment(forge, pull, "ada", "> /aicr explain 2\n\nI wrote that.")
    await writeComment(forge, pull, "ada", "```\n/aicr explain 2\n/aicr review\n```\nstarts it, and `/aicr help`, too.")
    await writeComment(forge, pull, "ada", "/aicr explain 2", comment)
    await waitUntil(() => replies().length === 3, { timeout: 30_000, describe })
    expect(replies()[2]?.body).toContain(`It is about \`${untyped.quote}\`.`)
    expect(replyCalls().at(-1)?.text).toContain(untyped.message)
    await writeComment(forge, pull, "ada", "/aicr explain 1", comment)
    await waitUntil(() => replies().length === 4, { timeout: 30_000, describe })
    expect(replyCalls().at(-1)?.text).toContain("state: withdrawn")
    await writeComment(forge, pull, "ada", "/aicr explain 9")
    await waitUntil(() => below("lists no finding with the number 9").length === 1, { timeout: 30_000, describe })
    expect(replyCalls()).toHaveLength(5)
    expect(below()).toHaveLength(1)
    expect(below("It is about")).toHaveLength(0)
    forge.expectContract()

    await settled()
    const folder = dirname(configFile)
    const people = /\b(?:ada|eve|dana)\b/i
    expect(listStored(folder).filter((line) => people.test(line))).not.toEqual([])
    const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret }
    await killWhileErasing(aicr, ["forget", "host:ada", "--config", configFile, "--yes"], { folder, env, describe })
    for (const login of ["ada", "eve", "dana"]) {
      const erased = await runAicr(["forget", `host:${login}`, "--config", configFile, "--yes"], { env })
      expect(erased).toMatchObject({ code: 0, err: "" })
    }
    const words = /Why is that a problem|what does it do|and tests\?|I do not like|and you\?|returns early/
    expect(listStored(folder).filter((line) => people.test(line) || words.test(line))).toEqual([])
    const shown = await runAicr(["forget", "host:ada", "--config", configFile], { env })
    expect(shown.out).toContain("No record of this person is stored.")
    expect(listErasures(folder)).toEqual(["unknown", "unknown", "done", "done", "done"])
  },
  240_000
)

/** Writes of a reply: its reaction, and its text. `lost`: the host has executed the write when the process is killed. */
const kills = [
  { write: 0, kind: "cut" },
  { write: 0, kind: "lost" },
  { write: 1, kind: "cut" },
  { write: 1, kind: "lost" }
] as const
it.each(isWhole ? ForgeKind.literals : (["gitea"] as const))(
  "a process that is killed at any write replies once at %s",
  async (host) => {
    const { aicr, comment, describe, forge, model, pull, replies, settled, stop } = await startReviewed(host)
    onTestFinished(stop)
    const rounds = isWhole ? 25 : 1
    for (let round = 0; round < rounds; round++)
      for (const { kind, write } of kills) {
        // A write that belongs to the question before would end the process before this one is stored.
        await settled()
        const before = replies().length
        const asked = model.requests.length
        const struck = Promise.withResolvers<void>()
        let writes = 0
        forge.intercept(({ method, path }): Fault | undefined => {
          const isWrite = method === "POST" && !/reviewers|graphql|markdown/.test(path)
          if (!isWrite || writes++ !== write) return undefined
          void aicr.kill().then(() => struck.resolve())
          return { kind }
        })
        // The process may be killed before its response arrives; the receipt is stored by then.
        await writeComment(forge, pull, "ada", `Why, in case ${round} ${write} ${kind}?`, comment).catch(
          () => undefined
        )
        await struck.promise
        await aicr.start()
        await waitUntil(() => replies().length > before, { timeout: 60_000, describe })
        // The next question is handled after it, so that a second reply would be there.
        await writeComment(forge, pull, "ada", `And after case ${round} ${write} ${kind}?`, comment)
        await waitUntil(() => replies().length > before + 1, { timeout: 60_000, describe })
        expect(replies()).toHaveLength(before + 2)
        // A model is called once per question: a response that was recorded is not paid for again.
        expect(model.requests.length - asked).toBe(2)
      }
  },
  isWhole ? 3_600_000 : 240_000
)
