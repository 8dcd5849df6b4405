/** Records of the administration for tests of pages, with everything that is required. A field that the definition renames or adds does not compile here. */
import { TargetKey } from "../../src/domain/Keys.ts"
import type { Item, Output } from "../../src/dashboard/client/Endpoints.ts"

const targetKey = TargetKey.make("gitea:acme/app#5")

type RunDetails = Output<"GET /runs/:id">
type Finding = RunDetails["findings"][number]

const hour = 3_600_000
/** Returns a time that a page shows as so many hours ago, also if half an hour has passed since it was loaded. */
export const hoursAgo = (hours: number): string => new Date(Date.now() - (hours + 0.5) * hour).toISOString()
/** Returns a time that a page shows as in so many hours. */
export const inHours = (hours: number): string => new Date(Date.now() + (hours + 0.5) * hour).toISOString()

export const page = <A>(
  ...items: ReadonlyArray<A>
): { readonly items: ReadonlyArray<A>; readonly next_cursor: null } => ({
  items,
  next_cursor: null
})

const change = {
  repo: "acme/app",
  target_kind: "pull_request",
  number: 5,
  title: "Add a cache",
  author: "mira"
} as const

export const listedRun = (fields: Partial<Item<"GET /runs">> = {}): Item<"GET /runs"> => ({
  ...change,
  id: "r1",
  status: "succeeded",
  partial: false,
  workspace: "main",
  target_key: targetKey,
  created_at: hoursAgo(2),
  cost_usd: 0.25,
  event_ids: ["d1"],
  ...fields
})

export const runDetails = (fields: Partial<RunDetails> = {}): RunDetails =>
  ({
    ...listedRun(),
    findings: [],
    refuted: [],
    late_findings: [],
    folded_findings: [],
    private_findings: [],
    ignored_dismissals: [],
    notices: [],
    publications: [],
    models_used: [],
    rules: [],
    timeline: [],
    config_hash: "0123456789abcdef",
    ...fields
  }) as RunDetails

export const finding = (fields: Partial<Finding> = {}): Finding => ({
  fingerprint: "f1",
  file: "src/cache.ts",
  line: 12,
  severity: "high",
  category: "correctness",
  title: "The cache is never emptied",
  message: "Entries stay for ever.",
  anchor: { path: "src/cache.ts", side: "new", line: 12 },
  ...fields
})

export const publication = (
  fields: Partial<RunDetails["publications"][number]> = {}
): RunDetails["publications"][number] => ({
  id: "p1",
  channel: "gitea",
  status: "sent",
  attempts: 0,
  operation: "Summary",
  created_at: hoursAgo(1),
  updated_at: hoursAgo(1),
  ...fields
})

export const entry = (fields: Partial<Item<"GET /queue">> = {}): Item<"GET /queue"> => ({
  ...change,
  id: "e1",
  status: "waiting",
  why: { _tag: "Text", text: "waits for its turn" },
  workspace: "main",
  target_key: targetKey,
  priority: 0,
  admitted_at: hoursAgo(1),
  due_at: hoursAgo(1),
  attempts: 0,
  events: ["d1"],
  ...fields
})

export const queue = (
  items: ReadonlyArray<Item<"GET /queue">>,
  fields: Partial<Output<"GET /queue">> = {}
): Output<"GET /queue"> => ({
  ...page(...items),
  by_status: { waiting: 0, ready: 0, running: 0, done: 0, superseded: 0, cancelled: 0, expired: 0, dead: 0 },
  oldest_waiting_at: null,
  pauses: [],
  held_batches: [],
  ...fields
})

export const delivery = (fields: Partial<Item<"GET /events">> = {}): Item<"GET /events"> => ({
  id: "d1",
  received_at: hoursAgo(1),
  provider: "gitea",
  event: "pull_request",
  action: "opened",
  trigger: "gitea",
  repo: "acme/app",
  number: 5,
  decision: "queued",
  duplicates: 0,
  ...fields
})

export const deliveryDetails = (fields: Partial<Output<"GET /events/:id">> = {}): Output<"GET /events/:id"> => ({
  ...delivery(),
  delivery: "guid-1",
  replays: [],
  ...fields
})

export const node = (fields: Partial<Item<"GET /nodes">> = {}): Item<"GET /nodes"> =>
  ({
    name: "node-1",
    roles: ["ingress", "executor"],
    version: "0.1.0",
    configuration: "abc123",
    differs: [],
    refused: [],
    running: 1,
    slots: 4,
    started_at: hoursAgo(5),
    ...fields
  }) as Item<"GET /nodes">

export const provider = (fields: Partial<Item<"GET /providers">> = {}): Item<"GET /providers"> => ({
  id: "anthropic",
  kind: "anthropic",
  rate_limit_rps: null,
  cost_today_usd: 1.5,
  state: null,
  ...fields
})

export const trigger = (fields: Partial<Item<"GET /triggers">> = {}): Item<"GET /triggers"> => ({
  name: "gitea",
  kind: "gitea",
  enabled: true,
  workspaces: 1,
  secret: "set",
  token: "set",
  deliveries_24h: 3,
  ignored_24h: 1,
  rejected_signatures_24h: 0,
  waiting_publications: 0,
  last_delivery_at: hoursAgo(1),
  ...fields
})
