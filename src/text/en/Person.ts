/** Texts about the erasure of a person. */
import type { personReasons } from "../../domain/reasons/Person.ts"

export const personTexts = {
  PersonExpected:
    "expected TRIGGER:LOGIN for an account at a host, such as main:alice, slack_user:ID or another kind of chat principal, or administrator:NAME",
  PreviewChanged:
    "The records of the person have changed since the preview. Show the preview again, and confirm that one.",
  PersonErased: "What is erased",
  PersonRemains: "What stays",
  PersonFound: "{count} {count|record|records} of the person",
  PersonPrompts: "prompts, responses and read files of {count} {count|review|reviews}: removed",
  PersonPasses: "{count} {count|record|records} of agent CLIs: removed",
  PersonLogLines: "{count} {count|part|parts} of the logs of reviews: emptied",
  PersonPayloads: "{count} {count|body|bodies} of deliveries: removed",
  PersonPublications: "{count} stored {count|comment|comments} of the service: texts and names replaced",
  PersonFindings: "{count} {count|outcome|outcomes} of findings: names replaced",
  PersonLessons: "{count} {count|lesson|lessons}: mentions replaced",
  PersonPauses: "{count} paused {count|change|changes}: name replaced",
  PersonBatches: "{count} {count|batch|batches} of pushes: texts and names replaced",
  PersonChatRequests: "{count} {count|request|requests} from chat: texts and names replaced",
  PersonOptOuts: "{count} {count|decision|decisions} to get no direct messages: removed",
  PersonNotices: "{count} sent {count|notice|notices}: removed",
  PersonSessions: "{count} {count|session|sessions}: ended",
  PersonViews: "{count} saved {count|view|views}: removed",
  PersonTokens:
    "{count} {count|token|tokens} of programs: name of the creator replaced; revoke them where they should end",
  PersonProjects: "{count} deleted {count|project|projects}: name replaced",
  PersonAudit: "{count} {count|record|records} of the audit: name replaced",
  PersonBudgets: "{count} {count|account|accounts} of budgets and limits: name replaced; those of today begin at zero",
  PersonReviews: "{count} {count|review|reviews}: title, description, summary and names replaced",
  PersonDeliveries: "{count} {count|delivery|deliveries}: texts and names replaced",
  PersonEntries: "{count} {count|entry|entries} of the queue: texts and names replaced",
  PersonWorkRuns:
    "{count} {count|record|records} of work that has not ended: not changed. Repeat this after it has ended",
  PersonCommentsStay:
    "{count} {count|comment|comments} of the service about changes of the person at the host: remove them there",
  PersonHostStays:
    "commits, pull requests, issues and comments of the person at the host, and in the mirrors and cached responses of this service",
  PersonNamesStay: "names of repositories and branches that contain the name, and code that findings quote",
  PersonStatementsStay:
    "signed statements: they hold commits, paths and titles of findings, but no text or name of a person",
  PersonConfigurationStays: "the configuration and its history, which show who published what",
  PersonLogsStay: "logs, traces, exports and backups outside of the records"
} as const satisfies Record<keyof typeof personReasons, string>
