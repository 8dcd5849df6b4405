/** Records for the store's tests. */
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Change } from "../../src/domain/Change.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import { newId } from "../../src/domain/Ids.ts"
import { DeliveryKey, OperationId } from "../../src/domain/Keys.ts"
import type { Operation, Publication } from "../../src/domain/Publication.ts"
import type { NewChatRequest } from "../../src/store/ChatRequests.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"

export const change = (number = 7, head = "a".repeat(40)): Change => ({
  provider: "gitea",
  trigger: "main",
  workspace: "app",
  repo: { fullName: "Acme/App", cloneUrl: "https://git.example/Acme/App.git" },
  target: { kind: "pull_request", number },
  head,
  title: 'Añade 中文 \u0000 "quotes"'
})

export const event = (over: Partial<EventRecord> = {}): EventRecord => {
  const id = newId()
  return {
    id,
    deliveryKey: DeliveryKey.make(`gitea:${id}`),
    provider: "gitea",
    event: "pull_request",
    action: "opened",
    trigger: "main",
    workspace: "app",
    targetKind: "pull_request",
    targetKey: targetKey(change()),
    repo: "Acme/App",
    facts: {},
    decision: "queued",
    reason: undefined,
    work: { change: change(), configHash: "c0ffee", priority: 10, dueAt: 1000 },
    receivedAt: 1000,
    ...over
  }
}

export const ignored = (over: Partial<EventRecord> = {}): EventRecord =>
  event({ decision: "ignored", reason: "draft", work: undefined, ...over })

/** The routing receipt of a report of a hook. */
export const routingReceipt = (routing: DepotChange, receivedAt = 0): EventRecord =>
  event({
    provider: routing.vcs,
    event: "hook",
    action: undefined,
    trigger: undefined,
    workspace: undefined,
    targetKind: "commit",
    targetKey: undefined,
    repo: undefined,
    facts: { head: routing.revision },
    work: undefined,
    routing,
    receivedAt
  })

export const chatRequest = (over: Partial<NewChatRequest> = {}): NewChatRequest => {
  const id = newId()
  return {
    id,
    connection: "lark",
    key: id,
    conversation: { kind: "group", id: "oc_team" },
    sender: { type: "feishu_open_id", id: "ou_ada" },
    facts: { text: "help", isAction: false, reply: {} },
    receivedAt: 1000,
    ...over
  }
}

const spent = { requests: 1, inputTokens: 10, outputTokens: 5, cachedTokens: 0 }

export const analysis: Analysis = {
  findings: [
    {
      fingerprint: "f".repeat(32),
      problem: { file: "a.ts", severity: "high", category: "bug", message: "Off by one" },
      anchor: { path: "a.ts", side: "new", line: 3 }
    }
  ],
  summary: "One problem",
  coverage: { reviewed: ["a.ts"], skipped: [{ path: "b.png", reason: "binary" }], lines: 12 },
  models: ["demo/rules"],
  usage: { ...spent, byModel: { "demo/rules": { ...spent, reasoningTokens: 0 } } },
  notices: []
}

export const publication = (over: Partial<Publication> = {}): Publication => {
  const id = newId()
  const operation: Operation = over.operation ?? { _tag: "Summary", head: "a".repeat(40), body: "text" }
  return {
    id,
    operationId: OperationId.make(`op-${id}`),
    runId: "run",
    targetKey: targetKey(change()),
    channel: "gitea_pr_review",
    operation,
    status: "pending",
    position: 0,
    attempts: 0,
    ...over
  }
}
