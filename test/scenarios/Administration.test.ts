/**
 * A node with its records in Postgres, and an administrator: a review, the server of the records killed while the next
 * one runs, and another review of a pull request at the request of the administrator.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { honest, Installation } from "../harness/Installation.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { waitUntil } from "../harness/Wait.ts"

const credentials = { username: "root", password: "correct horse" }

describe("records in Postgres, with an administrator", () => {
  let database: PostgresServer
  let at: Installation
  let url = ""
  beforeAll(async () => {
    database = await PostgresServer.start()
    at = await Installation.make({
      queue: "sqlite",
      database: database.url,
      env: { SVC_ADMIN_USERNAME: credentials.username, SVC_ADMIN_PASSWORD: credentials.password }
    })
    await at.aicr.start()
    url = `${at.aicr.url}/api/admin`
  })
  afterAll(async () => {
    await at[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  const asked = async (
    method: string,
    path: string,
    token?: unknown,
    body?: object
  ): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${String(token)}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const answer: unknown = await response.json()
    return Object(answer)
  }
  const newestRun = async (token: unknown): Promise<Record<string, unknown>> => {
    const { items } = await asked("GET", "/runs?limit=1", token)
    return Object(Array.isArray(items) ? items[0] : undefined)
  }

  it("reviews, and reviews again at the request of the administrator", async () => {
    const pull = await at.open("first")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    const { token } = await asked("POST", "/login", undefined, credentials)
    await waitUntil(async () => (await newestRun(token))["status"] === "succeeded", {
      describe: () => at.aicr.log
    })
    const run = await newestRun(token)
    assert.include(run, { repo: "team/one", findings: 1, title: "Add first" })
    assert.lengthOf(at.posted(pull).reviews, 1)

    const again = await asked("POST", `/runs/${String(run["id"])}/rereview`, token)
    assert.strictEqual(again["status"], "queued")
    await waitUntil(
      async () => {
        const newest = await newestRun(token)
        return newest["id"] !== run["id"] && newest["status"] === "succeeded"
      },
      { describe: () => at.aicr.log }
    )
    assert.strictEqual(at.countModelCalls("first"), 2)
    // It was reviewed again, and the existing comment on the line is not repeated.
    assert.lengthOf(at.posted(pull).comments, 1)
    const event = await waitUntil(
      async () => {
        const found = await asked("GET", `/events/${String(again["event_id"])}`, token)
        return found["outcome"] === null ? undefined : found
      },
      { describe: () => `the event has its outcome; log:\n${at.aicr.log}` }
    )
    assert.include(event, { event: "rereview", outcome: "executed" })
  })

  it("a review outlasts the database being killed and started again", async () => {
    const pull = await at.open("second")
    // The server is gone before the reply that ends the analysis.
    at.model.script(async (request) => {
      await database.kill()
      return honest(request)
    })
    await at.forge.notify(pull, "opened")
    await waitUntil(() => at.aicr.log.includes("analysis spooled"), { describe: () => at.aicr.log })
    await database.start()
    await at.reviewed(pull)
    assert.lengthOf(at.posted(pull).reviews, 1)
    assert.strictEqual(at.countModelCalls("second"), 1)
  })
})
