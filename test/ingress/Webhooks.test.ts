/** The webhook path over HTTP: responses, records, queue entries and notifications of actors. */
import { Context, Effect, Layer, Scope } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { pendingVerdict } from "../../src/domain/HeadVerdict.ts"
import { newId } from "../../src/domain/Ids.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, env, readEventId, head, hmac, pullRequest, secret, startIngress } from "./Ingress.ts"

const reviewed: Change = {
  provider: "github",
  trigger: "hub",
  workspace: "on-hub",
  repo: { fullName: "acme/app" },
  target: { kind: "pull_request", number: 7 },
  head
}

let ingress: Ingress
afterEach(() => ingress.stop())

const comment = (body: string, over: object = {}) => ({
  action: "created",
  repository: pullRequest().repository,
  sender: { login: "ada" },
  issue: { number: 7, title: "Add a thing", html_url: "https://github.com/acme/app/pull/7", pull_request: {} },
  comment: { body },
  ...over
})

describe("accepted", () => {
  it("is recorded, queued, notified and responded to", async () => {
    ingress = await startIngress()
    const { body, headers, status } = await deliver(ingress, "pull_request", pullRequest())
    assert.strictEqual(status, 202)
    assert.deepStrictEqual(body, {
      accepted: true,
      event_id: readEventId({ body }),
      provider: "github",
      event: "pull_request",
      target_kind: "pull_request",
      workspace: "on-hub",
      status: "queued"
    })
    assert.strictEqual(headers.get("x-request-id"), body.event_id)
    const record = await Effect.runPromise(ingress.receipts.get(body.event_id ?? ""))
    assert.deepInclude(record, {
      event: "pull_request",
      action: "opened",
      trigger: "hub",
      workspace: "on-hub",
      repo: "acme/app",
      targetKey: TargetKey.make("hub:acme/app:pull_request:7"),
      decision: "queued"
    })
    const [entry, ...others] = await Effect.runPromise(ingress.queue.load("on-hub"))
    assert.deepStrictEqual(others, [])
    assert.deepInclude(entry?.change, { head, workspace: "on-hub", trigger: "hub", baseRef: "main" })
    assert.deepStrictEqual(entry?.events, [readEventId({ body })])
    assert.deepStrictEqual(ingress.woken.workspaces, ["on-hub"])
  })

  it("notifies the publisher of a change whose head was reviewed against another base only", async () => {
    const records = await Layer.buildWithScope(Store.layerMemory, Scope.makeUnsafe()).pipe(Effect.runPromise)
    const runs = Context.get(records, Runs)
    const review = (baseRef: string) => {
      const change = { ...reviewed, baseRef }
      const verdict = pendingVerdict(verbatimReason("Review in progress"))
      const begun = { entryId: newId(), workspace: "on-hub", change, head, base: "b", configHash: "c", verdict }
      return Effect.runPromise(runs.begin({ ...begun, targetKey: targetKey(change) }, LeaseToken.make(1), 1))
    }
    ingress = await startIngress({ records: Layer.succeedContext(records) })
    await deliver(ingress, "pull_request", pullRequest(), { "x-github-delivery": "one" })
    await review("side")
    await deliver(ingress, "pull_request", pullRequest(), { "x-github-delivery": "two" })
    const [entry] = await Effect.runPromise(ingress.queue.load("on-hub"))
    await waitUntil(() => ingress.woken.unreviewed.length > 0, { describe: () => "no notification" })
    assert.deepStrictEqual(ingress.woken.unreviewed, [entry?.id])
    await review("main")
    await deliver(ingress, "pull_request", pullRequest(), { "x-github-delivery": "three" })
    await waitUntil(() => ingress.woken.workspaces.length === 3, { describe: () => "no third delivery" })
    assert.lengthOf(ingress.woken.unreviewed, 1)
  })

  it("once per delivery, however often it is sent", async () => {
    ingress = await startIngress()
    const again = { "x-github-delivery": "one" }
    const answers = []
    for (let sent = 0; sent < 5; sent++)
      answers.push((await deliver(ingress, "pull_request", pullRequest(), again)).body)
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      ["queued", "duplicate", "duplicate", "duplicate", "duplicate"]
    )
    assert.strictEqual(new Set(answers.map(({ event_id }) => event_id)).size, 1)
    assert.lengthOf(await Effect.runPromise(ingress.queue.load("on-hub")), 1)
    assert.lengthOf(await Effect.runPromise(ingress.receipts.list({ limit: 10 })), 1)
  })

  it("once per delivery without an id: the body and the event identify it", async () => {
    ingress = await startIngress()
    const unnamed = { "x-github-delivery": "" }
    const first = await deliver(ingress, "pull_request", pullRequest(), unnamed)
    const second = await deliver(ingress, "pull_request", pullRequest(), unnamed)
    const other = await deliver(ingress, "pull_request", pullRequest({ action: "reopened" }), unnamed)
    assert.deepStrictEqual(
      [first, second, other].map(({ body }) => body.status),
      ["queued", "duplicate", "coalesced"]
    )
  })

  it("each of GitLab's chain of events, which share a UUID", async () => {
    ingress = await startIngress()
    const merge = async (iid: number, key?: string) => {
      const body = JSON.stringify({
        object_kind: "merge_request",
        project: { id: 1, path_with_namespace: "acme/app" },
        user: { username: "ada" },
        object_attributes: { iid, action: "open", source_branch: "x", target_branch: "main", last_commit: { id: head } }
      })
      const headers = {
        "x-gitlab-event": "Merge Request Hook",
        "x-gitlab-token": secret,
        "x-gitlab-event-uuid": "chain"
      }
      const response = await fetch(`${ingress.url}/webhooks/gitlab`, {
        method: "POST",
        headers: { ...headers, ...(key === undefined ? {} : { "idempotency-key": key }) },
        body
      })
      const { status }: { readonly status?: unknown } = Object(await response.json())
      return status
    }
    const statuses = [await merge(1), await merge(2), await merge(1)]
    statuses.push(await merge(3, "k"), await merge(3, "k"), await merge(3, "l"))
    assert.deepStrictEqual(statuses, ["queued", "queued", "duplicate", "queued", "duplicate", "coalesced"])
  })

  it("again after a refusal: a redelivery is decided again", async () => {
    ingress = await startIngress()
    const again = { "x-github-delivery": "one" }
    const draft = await deliver(ingress, "pull_request", pullRequest({ pull: { draft: true } }), again)
    assert.deepStrictEqual([draft.status, draft.body.accepted, draft.body.reason], [202, false, "draft"])
    const ready = await deliver(ingress, "pull_request", pullRequest(), again)
    assert.strictEqual(ready.body.status, "queued")
  })

  it("the newest head replaces the waiting entry, and the record of the older one shows it", async () => {
    ingress = await startIngress()
    const first = await deliver(ingress, "pull_request", pullRequest())
    const pushed = { head: { sha: "a".repeat(40), ref: "feature" } }
    await deliver(ingress, "pull_request", pullRequest({ action: "synchronize", pull: pushed }))
    const waiting = await Effect.runPromise(ingress.queue.load("on-hub"))
    assert.deepStrictEqual(
      waiting.map(({ change }) => change.head),
      ["a".repeat(40)]
    )
    const record = await waitUntil(
      async () => {
        const found = await Effect.runPromise(ingress.receipts.get(readEventId(first)))
        return found?.outcome === "superseded" ? found : undefined
      },
      { describe: () => "the first record is settled as superseded" }
    )
    assert.deepStrictEqual(record.outcomeReason, { _tag: "NewerDelivery" })
  })

  it("later if a schedule requires it", async () => {
    const inThreeDays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(new Date().getUTCDay() + 3) % 7]
    const closedNow = { rules: [{ days: [inThreeDays], windows: ["03:00-03:01"] }] }
    ingress = await startIngress({ document: { ...document, review: { pull_request: { schedule: closedNow } } } })
    const { body } = await deliver(ingress, "pull_request", pullRequest())
    assert.strictEqual(body.status, "deferred")
    assert.match(body.due_at ?? "", /T03:00:00\.000Z$/)
    const command = await deliver(ingress, "issue_comment", comment("/review"))
    assert.strictEqual(command.body.status, "coalesced")
  })
})

describe("not accepted", () => {
  it("responds with the reason, and leaves a record", async () => {
    ingress = await startIngress()
    const cases: ReadonlyArray<readonly [string, string, unknown]> = [
      ["unsupported_event", "star", { ...pullRequest(), action: "created" }],
      ["unsupported_action", "pull_request", pullRequest({ action: "labeled" })],
      ["repository_not_configured", "pull_request", pullRequest({ repo: "acme/other" })],
      ["draft", "pull_request", pullRequest({ pull: { draft: true } })],
      ["label_ignored", "pull_request", pullRequest({ pull: { labels: [{ name: "aicr:ignore" }] } })],
      ["closed", "pull_request", pullRequest({ action: "closed" })],
      ["pong", "ping", { zen: "Keep it logically awesome.", hook_id: 1 }],
      ["unsupported_action", "issue_comment", comment("looks good to me")],
      ["own_event", "issue_comment", comment('/review <!-- aicr:v1 {"op":"x"} -->')]
    ]
    for (const [reason, event, payload] of cases) {
      const { body, status } = await deliver(ingress, event, payload)
      assert.deepStrictEqual(
        { status, ...body },
        { status: 202, accepted: false, event_id: body.event_id, reason, provider: "github", event }
      )
      const record = await Effect.runPromise(ingress.receipts.get(body.event_id ?? ""))
      assert.deepInclude(record, { decision: "ignored", reason, event, trigger: "hub" })
    }
    assert.deepStrictEqual(await Effect.runPromise(ingress.queue.load("on-hub")), [])
  })

  it("a delivery of a pull request notifies the review of an older head, once", async () => {
    ingress = await startIngress()
    const first = pullRequest()
    await deliver(ingress, "pull_request", first)
    await deliver(ingress, "pull_request", pullRequest({ action: "closed" }))
    assert.lengthOf(ingress.woken.newerHeads, 1)
    assert.match(ingress.woken.newerHeads[0] ?? "", /^hub:acme\/app:pull_request:7 [0-9a-f]+$/)
  })

  it("the waiting entry of a closed pull request is cancelled, and its record shows it", async () => {
    ingress = await startIngress()
    const opened = await deliver(ingress, "pull_request", pullRequest())
    const closed = await deliver(ingress, "pull_request", pullRequest({ action: "closed" }))
    assert.strictEqual(closed.body.reason, "closed")
    await waitUntil(
      async () => (await Effect.runPromise(ingress.receipts.get(readEventId(opened))))?.outcome === "cancelled",
      { describe: () => "the record of the opened pull request is settled as cancelled" }
    )
    assert.deepStrictEqual(await Effect.runPromise(ingress.queue.load("on-hub")), [])
    assert.deepStrictEqual(ingress.woken.closed, ["hub:acme/app:pull_request:7"])
  })

  it("events of our own account", async () => {
    ingress = await startIngress()
    ingress.ownAccounts.learn("hub", "Ada")
    const { body } = await deliver(ingress, "pull_request", pullRequest())
    assert.strictEqual(body.reason, "own_event")
  })

  it("changes of an app installation only drop cached credentials", async () => {
    ingress = await startIngress()
    const { body } = await deliver(ingress, "installation", { action: "created", installation: { id: 1 } })
    assert.deepStrictEqual([body.accepted, body.reason], [false, "lifecycle"])
    assert.deepStrictEqual(ingress.woken.installations, ["hub"])
  })

  it("changes of repositories are noted for the inventory, and drop no credentials", async () => {
    ingress = await startIngress()
    const { inventories } = ingress
    const { body } = await deliver(ingress, "repository", { action: "renamed", repository: pullRequest().repository })
    assert.deepStrictEqual([body.accepted, body.reason], [false, "lifecycle"])
    const changed = () =>
      Effect.runPromise(
        Effect.map(inventories.list, (all) => all.flatMap((one) => (one.changedAt === undefined ? [] : one.trigger)))
      )
    await waitUntil(async () => (await changed()).length > 0, { describe: () => "the change is stored" })
    assert.deepStrictEqual([await changed(), ingress.woken.installations], [["hub"], []])
  })
})

describe("commands", () => {
  it("review goes before everything else and needs no head", async () => {
    ingress = await startIngress()
    const { body } = await deliver(ingress, "issue_comment", comment("Please\n/aicr review"))
    assert.strictEqual(body.status, "queued")
    const [entry] = await Effect.runPromise(ingress.queue.load("on-hub"))
    assert.deepInclude(entry?.change, { requestedBy: "ada", target: { kind: "pull_request", number: 7 } })
    assert.strictEqual(entry?.priority, 0)
    assert.isUndefined(entry?.change.head)
  })

  it("help and cancel are stored and handed on, never queued", async () => {
    ingress = await startIngress()
    const { body } = await deliver(ingress, "issue_comment", comment("/aicr cancel"))
    assert.strictEqual(body.accepted, true)
    assert.deepStrictEqual(
      ingress.woken.commands.map(({ command, eventId }) => ({ command, eventId })),
      [{ command: "cancel", eventId: body.event_id }]
    )
    const record = await Effect.runPromise(ingress.receipts.get(body.event_id ?? ""))
    assert.strictEqual(record?.work?.command, "cancel")
    assert.deepStrictEqual(await Effect.runPromise(ingress.queue.load("on-hub")), [])
  })
})

describe("hosts", () => {
  const giteaPull = {
    ...pullRequest(),
    repository: { ...pullRequest().repository, clone_url: "https://elsewhere.test/acme/app.git" }
  }

  it("go by the route, by product name or by token, never by headers", async () => {
    ingress = await startIngress()
    const body = JSON.stringify(giteaPull)
    const routes: ReadonlyArray<readonly [string, string, string]> = [
      ["gitea", "on-tea", "https://gitea.test/acme/app.git"],
      ["githost_a", "on-tea", "https://gitea.test/acme/app.git"],
      ["forgejo", "on-jo", "https://forgejo.test/acme/app.git"],
      ["githost_b", "on-jo", "https://forgejo.test/acme/app.git"]
    ]
    for (const [path, workspace, cloneUrl] of routes) {
      const response = await fetch(`${ingress.url}/webhooks/${path}`, {
        method: "POST",
        headers: {
          "x-gitea-event": "pull_request",
          "x-gitea-delivery": crypto.randomUUID(),
          "x-gitea-signature": hmac(body),
          "x-github-event": "push"
        },
        body
      })
      assert.deepInclude(await response.json(), { accepted: true, workspace, event: "pull_request" })
      const [entry] = await Effect.runPromise(ingress.queue.load(workspace))
      // A payload does not choose where our token is sent.
      assert.strictEqual(entry?.change.repo.cloneUrl, cloneUrl)
    }
  })

  it("form deliveries: Gitea signs the text, GitHub the form", async () => {
    ingress = await startIngress()
    const text = JSON.stringify(giteaPull)
    const body = new URLSearchParams({ payload: text }).toString()
    const send = (path: string, headers: Record<string, string>) =>
      fetch(`${ingress.url}/webhooks/${path}`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body
      })
    const cases: ReadonlyArray<readonly [string, Record<string, string>, number]> = [
      ["gitea", { "x-gitea-event": "pull_request", "x-gitea-signature": hmac(text) }, 202],
      ["gitea", { "x-gitea-event": "pull_request", "x-gitea-signature": hmac(body) }, 401],
      ["github", { "x-github-event": "pull_request", "x-hub-signature-256": `sha256=${hmac(body)}` }, 202],
      ["github", { "x-github-event": "pull_request", "x-hub-signature-256": `sha256=${hmac(text)}` }, 401]
    ]
    for (const [path, headers, status] of cases) {
      const response = await send(path, headers)
      assert.strictEqual(response.status, status, `${path} ${JSON.stringify(await response.json())}`)
    }
  })
})

describe("profiles on a shared route", () => {
  const shared = {
    triggers: [
      { name: "one", kind: "github", webhook_secret_env: "SECRET" },
      { name: "two", kind: "github", webhook_secret: env.OTHER_SECRET },
      { name: "off", kind: "github", webhook_secret_env: "SECRET", enabled: false },
      { name: "open", kind: "gitlab" }
    ],
    workspaces: {
      instances: {
        a: { source_repo: { trigger: "one", repo: "/Acme/App/" } },
        b: { source_repo: { trigger: "two", repo: "acme/app" } },
        c: { source_repo: { trigger: "off", repo: "acme/off" } },
        d: { match: [{ triggers: ["one"], source: { repo_ref: { glob: "acme/m*" } } }] },
        e: { match: [{ triggers: ["one"], source: { repository: { exact: "many" } } }] },
        f: { source_repo: { trigger: "one", repo: "acme/paused" }, enabled: false },
        g: { source_repo: { trigger: "open", repo: "acme/app" } }
      }
    }
  }

  it("are distinguished by credential, then by repository", async () => {
    ingress = await startIngress({ document: shared })
    const send = (repo: string, key?: string) => {
      const payload = pullRequest({ repo })
      const signature = { "x-hub-signature-256": `sha256=${hmac(JSON.stringify(payload), key)}` }
      return deliver(ingress, "pull_request", payload, signature)
    }
    assert.strictEqual((await send("acme/app")).body.workspace, "a")
    assert.strictEqual((await send("ACME/App", "another")).body.workspace, "b")
    assert.strictEqual((await send("acme/mine")).body.workspace, "d")
    assert.strictEqual((await send("acme/many")).body.reason, "ambiguous_route")
    assert.strictEqual((await send("acme/off")).body.reason, "trigger_disabled")
    assert.strictEqual((await send("acme/paused")).body.reason, "workspace_disabled")
    assert.strictEqual((await send("acme/mine", "another")).body.reason, "repository_not_configured")
    assert.strictEqual((await send("acme/app", "neither")).status, 401)
  })

  it("refuse a token that no trigger has before the body is read, and close the connection", async () => {
    ingress = await startIngress()
    const send = async (token: string) => {
      const headers = { "x-gitlab-event": "Merge Request Hook", "x-gitlab-token": token }
      const response = await fetch(`${ingress.url}/webhooks/gitlab`, { method: "POST", headers, body: "no JSON" })
      return [response.status, response.headers.get("connection")]
    }
    assert.deepStrictEqual(await send("wrong"), [401, "close"])
    assert.deepStrictEqual(await send(secret), [400, "keep-alive"])
  })

  it("without a secret take anything, and a kind without a trigger is not found", async () => {
    ingress = await startIngress({ document: shared })
    const push = {
      ref: "refs/heads/main",
      before: "a".repeat(40),
      after: "b".repeat(40),
      project: { id: 5, path_with_namespace: "acme/app" },
      user_username: "ada"
    }
    const send = (path: string) =>
      fetch(`${ingress.url}/webhooks/${path}`, {
        method: "POST",
        headers: { "x-gitlab-event": "Push Hook" },
        body: JSON.stringify(push)
      })
    const open = await send("gitlab")
    assert.deepInclude(await open.json(), { accepted: true, workspace: "g", target_kind: "push", status: "deferred" })
    const none = await send("gitea")
    assert.deepStrictEqual(
      [none.status, await none.json()],
      [404, { accepted: false, reason: "trigger_not_configured" }]
    )
  })
})

describe("when the stores fail", () => {
  const full = Effect.fail(
    new StoreError({ reason: "unavailable", operation: "receipts.store", why: verbatimReason("disk is full") })
  )
  const failing = Layer.succeed(Receipts, {
    store: () => full,
    storeAll: () => full,
    settle: () => Effect.void,
    revise: () => Effect.void,
    unsettled: () => Effect.succeed([]),
    note: () => Effect.void,
    probe: full,
    reopen: () => Effect.void,
    unrouted: () => Effect.succeed([]),
    reported: () => Effect.succeed([]),
    postpone: () => Effect.void,
    countUnrouted: Effect.succeed([]),
    sources: () => Effect.succeed([]),
    get: () => Effect.succeed(undefined),
    list: () =>
      Effect.fail(
        new StoreError({ reason: "unavailable", operation: "receipts.list", why: verbatimReason("disk is full") })
      ),
    search: () => full,
    countDecisions: () => Effect.succeed([]),
    touches: () => Effect.succeed([]),
    pushers: () => Effect.succeed({ usernames: [], pushedHead: false, isPart: false }),
    activity: () => Effect.succeed([]),
    addReplay: () => full,
    replays: () => Effect.succeed({ replayOf: undefined, replays: [] }),
    prune: () => Effect.succeed(0)
  })

  it("nothing is accepted that is not stored", async () => {
    ingress = await startIngress({ receipts: failing })
    for (const payload of [pullRequest(), pullRequest({ action: "labeled" }), "{"]) {
      const { body, headers, status } = await deliver(ingress, "pull_request", payload)
      assert.deepStrictEqual([status, body], [503, { accepted: false, reason: "store_unavailable" }])
      assert.strictEqual(headers.get("retry-after"), "30")
    }
    const ready = await fetch(`${ingress.url}/readyz`)
    assert.deepStrictEqual([ready.status, await ready.json()], [503, { status: "not_ready", not_ready: ["store"] }])
  })

  it("a full queue takes no more receipts, and other workspaces go on", async () => {
    ingress = await startIngress({ limits: { perWorkspace: 1, total: 100 } })
    const numbered = (number: number) => pullRequest({ pull: { number } })
    assert.strictEqual((await deliver(ingress, "pull_request", numbered(1))).body.status, "queued")
    // Stored before the queue was known to be full: recovery queues it.
    const second = await deliver(ingress, "pull_request", numbered(2))
    assert.deepStrictEqual([second.status, second.body.accepted], [202, true])
    const third = await deliver(ingress, "pull_request", numbered(3))
    assert.deepStrictEqual([third.status, third.body], [503, { accepted: false, reason: "queue_full" }])
    assert.lengthOf(await Effect.runPromise(ingress.receipts.list({ limit: 10 })), 2)
    const body = JSON.stringify(numbered(1))
    const elsewhere = await fetch(`${ingress.url}/webhooks/gitea`, {
      method: "POST",
      headers: { "x-gitea-event": "pull_request", "x-gitea-signature": hmac(body) },
      body
    })
    assert.strictEqual(elsewhere.status, 202)
  })
})
