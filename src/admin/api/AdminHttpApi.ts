/**
 * Defines the administration: endpoints, parameters, bodies, responses and errors. This one definition gives the handlers (src/admin), the
 * document at `/api/openapi.json`, the page at `/api/docs` and the typed client of commands and the dashboard.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AuditGroup } from "./AuditGroup.ts"
import { BatchGroup } from "./BatchGroup.ts"
import { BudgetGroup } from "./BudgetGroup.ts"
import { ChangeGroup } from "./ChangeGroup.ts"
import { ChatGroup } from "./ChatGroup.ts"
import { ConfigGroup } from "./ConfigGroup.ts"
import { DraftGroup } from "./DraftGroup.ts"
import { EventGroup } from "./EventGroup.ts"
import { LiveGroup } from "./LiveGroup.ts"
import { NodeGroup } from "./NodeGroup.ts"
import { PersonGroup } from "./PersonGroup.ts"
import { ProjectGroup } from "./ProjectGroup.ts"
import { ProviderGroup } from "./ProviderGroup.ts"
import { QueueGroup } from "./QueueGroup.ts"
import { RuleGroup } from "./RuleGroup.ts"
import { RunGroup } from "./RunGroup.ts"
import { LoginGroup, SessionGroup } from "./SessionGroup.ts"
import { StatisticsGroup } from "./StatisticsGroup.ts"
import { TokenGroup } from "./TokenGroup.ts"
import { TriggerGroup } from "./TriggerGroup.ts"
import { ViewGroup } from "./ViewGroup.ts"
import { VerdictGroup, VerdictKeyGroup } from "./VerdictGroup.ts"

/** Path of the administration below `server.path_prefix`. */
export const adminPath = "/api/admin"

export class AdminHttpApi extends HttpApi.make("aicr")
  .add(
    LoginGroup,
    SessionGroup,
    QueueGroup,
    BatchGroup,
    EventGroup,
    RunGroup,
    ChangeGroup,
    NodeGroup,
    ProviderGroup,
    ChatGroup,
    LiveGroup,
    AuditGroup,
    TokenGroup,
    PersonGroup,
    VerdictKeyGroup,
    VerdictGroup,
    TriggerGroup,
    ProjectGroup,
    StatisticsGroup,
    BudgetGroup,
    RuleGroup,
    ConfigGroup,
    DraftGroup,
    ViewGroup
  )
  .prefix(adminPath)
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })
  .annotateMerge(
    OpenApi.annotations({
      title: "aicr administration",
      description:
        "Administration of aicr. A session is opened with POST /api/admin/login; its token is sent as `authorization: Bearer …`. " +
        "Errors are problem details (RFC 9457) with a stable `code`."
    })
  ) {}
