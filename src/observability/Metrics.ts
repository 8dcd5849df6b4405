/** Metrics of the service. Names start with `aicr_`; labels have a low cardinality, so repositories and users are never labels. */
import { Metric } from "effect"

/** Deliveries by provider, decision and reason. */
export const webhookDecisions = Metric.counter("aicr_webhook_decisions_total", {
  description: "Webhook deliveries by provider, decision and reason",
  incremental: true
})

/** Measured from the first byte of the request to the response. */
export const webhookDuration = Metric.histogram("aicr_webhook_duration_seconds", {
  description: "Time from the arrival of a webhook to its response",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10]
})

/** Triggers are configured, so that their number is small. */
export const catchUps = Metric.counter("aicr_catch_up_searches_total", {
  description: "Searches for changes that no delivery reported by trigger, occasion and outcome (complete, incomplete)",
  incremental: true
})

export const agentCalls = Metric.counter("aicr_agent_calls_total", {
  description: "Calls of coding agents by tool and outcome (done, refused, failed)",
  incremental: true
})

/** Requests of the administration that change something. The names of actions are those of the API. */
export const adminActions = Metric.counter("aicr_admin_actions_total", {
  description:
    "Requests of the administration that change something by action and outcome (done, or the code of a refusal)",
  incremental: true
})

export const sharedReviews = Metric.counter("aicr_shared_reviews_total", {
  description: "Requests for shared reviews by outcome (shown, refused, limited)",
  incremental: true
})

export const catchUpFound = Metric.counter("aicr_catch_up_found_total", {
  description: "Changes that were found without a delivery by trigger",
  incremental: true
})

export const catchUpSkipped = Metric.counter("aicr_catch_up_skipped_total", {
  description: "Changes that were found without a delivery and are too old or too many by trigger",
  incremental: true
})

/** Set at each check of the inventory. */
export const inventoryHooks = Metric.gauge("aicr_webhooks", {
  description: "Webhooks at git hosts by trigger and state (complete, missing, broken, unreadable)"
})

export const hookWrites = Metric.counter("aicr_webhook_writes_total", {
  description: "Webhooks at git hosts that the service wrote by trigger and action (create, repair)",
  incremental: true
})

/** Callbacks and messages of long connections by kind of connection and outcome. */
export const chatCallbacks = Metric.counter("aicr_chat_callbacks_total", {
  description: "Callbacks and messages of long connections of chat platforms by kind of connection and outcome",
  incremental: true
})

/** Set by the owner of the connection: connections are configured, so that their number is small. */
export const chatConnectionReady = Metric.gauge("aicr_chat_connection_ready", {
  description: "1 while the chat connection that this node owns works, otherwise 0"
})

export const chatDisconnects = Metric.counter("aicr_chat_disconnects_total", {
  description: "Ends of long connections to chat platforms by connection and reason (lost, refused, limited, kicked)",
  incremental: true
})

export const chatOpenRequests = Metric.gauge("aicr_chat_open_requests", {
  description: "Requests from chat that have not ended"
})

export const chatRequests = Metric.counter("aicr_chat_requests_total", {
  description: "Ended requests from chat by command and outcome",
  incremental: true
})

export const loggedErrors = Metric.counter("aicr_logged_errors_total", {
  description: "Lines of log at the levels error and fatal",
  incremental: true
})

export const commentCommands = Metric.counter("aicr_comment_commands_total", {
  description: "Ended commands in comments by command and outcome (executed, skipped, refused, failed)",
  incremental: true
})

/** Connections of all listeners of this node. */
export const openConnections = Metric.gauge("aicr_http_connections", { description: "Open HTTP connections" })

export const connectionsAtLimit = Metric.counter("aicr_http_connections_at_limit_total", {
  description: "Connections closed for others or refused because a limit of server.limits is reached, by outcome",
  incremental: true
})

export const runs = Metric.counter("aicr_runs_total", {
  description: "Ended runs by outcome (succeeded, failed, timeout, cancelled, skipped)",
  incremental: true
})

/** Measured from the start of the run to its end, publications included. */
export const runDuration = Metric.histogram("aicr_run_duration_seconds", {
  description: "Duration of runs by outcome",
  boundaries: [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600]
})

/** A run has several attempts if a server fails, or its node stops. */
export const runAttempts = Metric.counter("aicr_run_attempts_total", {
  description: "Ended attempts at runs by outcome (reviewed, skipped, failed, retried, waiting, cancelled, released)",
  incremental: true
})

export const problems = Metric.counter("aicr_problems_total", {
  description: "Problems found by severity, category and team",
  incremental: true
})

export const budgetRefusals = Metric.counter("aicr_budget_refusals_total", {
  description: "Model calls that a budget refused by cap of llm.budget, and by team for that of teams",
  incremental: true
})

export const lateProblems = Metric.counter("aicr_late_problems_total", {
  description: "Problems on lines that an earlier round read, by severity and whether they were published (yes, no)",
  incremental: true
})

export const settledFindings = Metric.counter("aicr_settled_findings_total", {
  description: "Findings whose change ended, by outcome, severity and category",
  incremental: true
})

export const settlingDuration = Metric.histogram("aicr_settling_duration_seconds", {
  description: "Time from the delivery of the end of a change to the outcomes of its findings",
  boundaries: [1, 5, 10, 15, 20, 30, 45, 60, 120, 300, 3600]
})

export const leakedCredentials = Metric.counter("aicr_leaked_credentials_total", {
  description: "Credentials in added lines that no earlier round reported",
  incremental: true
})

export const appliedRules = Metric.counter("aicr_rules_applied_total", {
  description: "Rules of repositories that applied to a review, by whether they were muted (yes, no)",
  incremental: true
})

export const foldedProblems = Metric.counter("aicr_folded_problems_total", {
  description: "Problems of folded kinds, by severity and whether they were published as probes (yes, no)",
  incremental: true
})

export const framedFiles = Metric.counter("aicr_framed_files_total", {
  description:
    "Files that a review was to read blind and read with what their author writes, because no parser removes it",
  incremental: true
})

export const lateVerdicts = Metric.counter("aicr_late_verdicts_total", {
  description: "Commit statuses and check runs that were pending for longer than review.verdict_timeout",
  incremental: true
})

export const checkRuns = Metric.counter("aicr_check_runs_total", {
  description: "Verdicts with check runs by outcome: written, or refused (a commit status took the place)",
  incremental: true
})

export const notices = Metric.counter("aicr_notices_total", {
  description: "Notices to operators that ended, by kind, channel and outcome",
  incremental: true
})

export const publications = Metric.counter("aicr_publications_total", {
  description: "Writes to hosts by channel, kind of operation and outcome",
  incremental: true
})

export const spooledAnalyses = Metric.counter("aicr_spooled_analyses_adopted_total", {
  description: "Analyses that an earlier attempt could not store and a later one adopted",
  incremental: true
})

export const leaseLosses = Metric.counter("aicr_lease_losses_total", {
  description: "Reviews ended because their lease was lost",
  incremental: true
})

export const queueDepth = Metric.gauge("aicr_queue_entries", { description: "Active queue entries by status" })

export const queueOldest = Metric.gauge("aicr_queue_oldest_waiting_seconds", {
  description: "Age of the entry that waits longest"
})

/** Live nodes of the cluster, by role. */
export const nodes = Metric.gauge("aicr_nodes", { description: "Live nodes of the cluster, by role" })

export const busRoundTrip = Metric.histogram("aicr_bus_round_trip_seconds", {
  description: "Round trip time from this node to the bus",
  boundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
})

export const modelRequests = Metric.counter("aicr_llm_requests_total", {
  description: "Requests to language models by provider, model and outcome",
  incremental: true
})

export const modelTokens = Metric.counter("aicr_llm_tokens_total", {
  description: "Tokens by provider, model and direction (input, cached, output)",
  incremental: true
})

export const modelCost = Metric.counter("aicr_llm_cost_usd_total", {
  description: "Known cost of language models in US dollars by provider and model",
  incremental: true
})

export const modelRetries = Metric.counter("aicr_llm_retries_total", {
  description: "Requests to language models that were sent again after a failure, by provider, model and reason",
  incremental: true
})

export const modelFallbacks = Metric.counter("aicr_llm_fallbacks_total", {
  description:
    "Calls that were continued with another model of the chain, by provider and model that failed, and reason",
  incremental: true
})

export const actorStarts = Metric.counter("aicr_actor_starts_total", {
  description: "Starts of actors on this node by actor: first use, after idling, after a move and after a failure",
  incremental: true
})

export const modelResponsesReused = Metric.counter("aicr_llm_answers_reused_total", {
  description: "Recorded responses of a lost attempt that were reused instead of calling the model again",
  incremental: true
})

export const modelDuration = Metric.histogram("aicr_llm_request_duration_seconds", {
  description: "Duration of requests to language models by provider and model",
  boundaries: [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]
})

/** Size of the workspace cache of this node. */
export const cacheBytes = Metric.gauge("aicr_workspace_cache_bytes", {
  description: "Bytes that are kept under workspaces.root"
})

export const cacheEvictions = Metric.counter("aicr_workspace_cache_evictions_total", {
  description: "Repositories evicted from the workspace cache by policy",
  incremental: true
})
