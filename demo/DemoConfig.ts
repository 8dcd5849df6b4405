/** The configuration of the demo: what a user would write in config.yaml for one Gitea repository, with everything in one folder. */
import type { DetectedModel } from "../src/llm/providers/Detect.ts"
import { demoModelName } from "./DemoModel.ts"

/** Variables that the document names; they exist in the demo's own environment only. */
export const tokenVariable = "AICR_DEMO_TOKEN"
export const secretVariable = "AICR_DEMO_SECRET"

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const

/** Returns the weekday after the current one in UTC: a window on it is closed for at least nine hours. */
const dayAfter = (now: Date) => weekdays[(now.getUTCDay() + 1) % weekdays.length] ?? "mon"

/** Prices of the rules, which cost nothing, so that the pages show costs and a budget. */
const demoPrices = ({ model, provider }: DetectedModel) => ({
  model_catalog: { overrides: { [`${provider.id}/${model}`]: { cost: { input: 1, output: 4 } } } },
  budget: { per_repo_daily_usd: 5 }
})

export const demoDocument = (options: {
  readonly forgeUrl: string
  readonly repository: string
  readonly model: DetectedModel
  readonly agent: string
  readonly chat: object | undefined
}) => ({
  // So that the pages of the configuration edit and publish.
  config_sources: { database: { enabled: true } },
  llm: {
    providers: [options.model.provider],
    model_chain: { default: [{ provider: options.model.provider.id, model: options.model.model }] },
    ...(options.model.model === demoModelName ? demoPrices(options.model) : {})
  },
  triggers: [
    {
      name: "demo",
      kind: "gitea",
      base_url: options.forgeUrl,
      token_env: tokenVariable,
      webhook_secret_env: secretVariable
    }
  ],
  workspaces: {
    root: "workspaces",
    instances: { demo: { source_repo: { trigger: "demo", repo: options.repository } } }
  },
  outputs: {
    channels: [{ name: "review", kind: "gitea_pr_review" }],
    routes: { default: { line_comments: ["review"], summary: ["review"] } }
  },
  agent: { default: options.agent },
  review: {
    output_language: "en",
    status_fail_on: "critical",
    // A push to the main branch waits in the queue, so that it shows why and until when.
    auto_commit: {
      delay_seconds: 0,
      schedule: { timezone: "UTC", rules: [{ days: [dayAfter(new Date())], windows: ["09:00-17:00"] }] }
    },
    pull_request: { schedule: { rules: [] } }
  },
  ...(options.chat === undefined ? {} : { im: options.chat }),
  queue: { kind: "sqlite", sqlite: { path: "data/queue.db" } },
  storage: { database: { sqlite: { path: "data/aicr.db" } }, object: { filesystem: { root: "data/objects" } } },
  server: { hostname: "127.0.0.1" }
})
