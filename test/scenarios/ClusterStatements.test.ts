/**
 * The nodes that publish are killed around the statement of a verdict: there is one statement per verdict, with the same bytes before and after.
 * Nodes that execute reviews start without the key.
 */
import { join } from "node:path"
import { Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openStatement } from "../../src/domain/SignedStatement.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { listStates } from "../harness/Installation.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { waitUntil } from "../harness/Wait.ts"

const { key, pem } = makeStatementKey()
const publishers = ["publish-1", "publish-2"]
let at: ClusterInstallation
beforeAll(async () => {
  at = await ClusterInstallation.make({ repositories: 2, server: signing })
  await at.start("front", "ingress,actors")
  await at.start("work", "executor")
  for (const name of publishers) await at.start(name, "publisher", { TEST_STATEMENT_KEY: pem })
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

const stored = () => storedStatements(join(at.directory, "objects"))

/** The nodes are killed before the statement is made, or between it and the status. */
it.each(["comments", "status"] as const)(
  "one statement per verdict survives kill -9 of both publishers at the %s",
  async (moment) => {
    const before = new Set(stored().keys())
    const pull = await at.open(`stated-at-${moment}`, moment === "comments" ? "team/r0" : "team/r1")
    const made = () => [...stored()].filter(([name]) => !before.has(name))
    const struck = Promise.withResolvers<void>()
    let atDeath: ReturnType<typeof made> | undefined
    at.host.onRequest = ({ method, path }) => {
      const isStruck =
        moment === "comments" ? /\/pulls\/\d+\/reviews/.test(path) : /\/statuses\//.test(path) && made().length > 0
      if (method !== "POST" || !isStruck || atDeath !== undefined) return undefined
      atDeath = made()
      void Promise.all(publishers.map((name) => at.node(name).kill())).then(() => struck.resolve())
      return { kind: "lost" }
    }
    await at.deliver(pull)
    await struck.promise
    expect(atDeath).toHaveLength(moment === "comments" ? 0 : 1)
    await Promise.all(publishers.map((name) => at.node(name).start()))
    await waitUntil(() => listStates(pull).at(-1) === "success", { timeout: 120_000, describe: () => at.logs(40) })
    await at.settled()
    at.host.onRequest = () => undefined

    expect(made()).toHaveLength(1)
    // What was there at the death is there unchanged.
    expect(made()).toEqual(expect.arrayContaining(atDeath ?? []))
    const [[, envelope = ""] = []] = made()
    const { predicate } = JSON.parse(Result.getOrThrow(openStatement(Buffer.from(envelope), [key])))
    expect(predicate).toMatchObject({ head: pull.head, outcome: "success" })
    expect(
      await at.query(`SELECT status FROM publications WHERE kind = 'Statement' AND run_id = '${predicate.run}'`)
    ).toEqual([{ status: "sent" }])
  },
  240_000
)
