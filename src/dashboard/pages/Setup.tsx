/** How to connect a host, ready to copy, and deliveries whose signature was wrong. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { ForgeKind } from "../../domain/Kinds.ts"
import { webhookSetups } from "../../domain/WebhookSetup.ts"
import { formatCount } from "../text/Format.ts"
import { TablePanel } from "../parts/TablePanel.tsx"
import { t } from "../text/T.ts"
import { CatchUps } from "./CatchUps.tsx"
import { CheckTrigger } from "./CheckTrigger.tsx"
import { FirstDelivery } from "./FirstDelivery.tsx"
import { Inventories } from "./Inventories.tsx"
import { WebhookFacts } from "./WebhookFacts.tsx"

interface RowProps {
  readonly trigger: Item<"GET /triggers">
  readonly onCheck: () => void
}

const TriggerRow = ({ onCheck, trigger }: RowProps) => (
  <tr>
    <td>
      <Link to="/deliveries" search={{ trigger: trigger.name }}>
        {trigger.name}
      </Link>{" "}
      {trigger.enabled ? null : <Status group="health" value="disabled" tone="warn" />}
      <p className="quiet">{trigger.base_url ?? trigger.kind}</p>
    </td>
    <td>
      <Status group="health" value={trigger.secret} />
    </td>
    <td>
      <Status group="health" value={trigger.token} />
    </td>
    <td className="end">{trigger.workspaces}</td>
    <td className="end">{formatCount(trigger.deliveries_24h)}</td>
    <td className="end">{formatCount(trigger.ignored_24h)}</td>
    <td className="end">{formatCount(trigger.rejected_signatures_24h)}</td>
    <td className="end">
      <Time at={trigger.last_delivery_at} />
    </td>
    <td className="end">
      <ActionButton action="POST /triggers/:name/check" className="small" onClick={onCheck}>
        {t("check.start")}
        <span className="hidden"> {trigger.name}</span>
      </ActionButton>
    </td>
  </tr>
)

/** Health of each trigger: its credentials, and whether its host still sends deliveries. */
const Triggers = () => {
  const query = useApi("GET /triggers", {})
  const [checked, setChecked] = useState<string>()
  return (
    <>
      {checked === undefined ? null : <CheckTrigger name={checked} onClose={() => setChecked(undefined)} />}
      <Loaded query={query}>
        {({ items }) => (
          <TablePanel
            title={t("setup.triggers")}
            heads={[
              { label: t("column.trigger") },
              { label: t("setup.secret") },
              { label: t("setup.token") },
              { label: t("setup.workspaces"), end: true },
              { label: t("setup.day"), end: true },
              { label: t("setup.ignored"), end: true },
              { label: t("setup.rejected"), end: true },
              { label: t("setup.last"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("setup.none")} />}
            rows={items.map((trigger) => (
              <TriggerRow key={trigger.name} trigger={trigger} onCheck={() => setChecked(trigger.name)} />
            ))}
          />
        )}
      </Loaded>
    </>
  )
}

const Rejected = () => {
  const query = useApi("GET /rejected-signatures", {})
  return (
    <Loaded query={query}>
      {({ items }) => (
        <TablePanel
          title={t("setup.rejected")}
          note={t("setup.rejected.note")}
          heads={[
            { label: t("column.trigger") },
            { label: t("setup.deliveries"), end: true },
            { label: t("setup.addresses") },
            { label: t("column.at"), end: true }
          ]}
          empty={<Empty title={t("setup.rejected.empty")} />}
          rows={items.map(({ addresses, count, hour, last_at: at, trigger }) => (
            <tr key={`${trigger} ${hour}`}>
              <td>{trigger}</td>
              <td className="end">{formatCount(count)}</td>
              <td>
                {t("setup.classes", {
                  loopback: addresses.loopback,
                  private: addresses.private,
                  public: addresses.public
                })}
              </td>
              <td className="end">
                <Time at={at} />
              </td>
            </tr>
          ))}
        />
      )}
    </Loaded>
  )
}

const HostSteps = () => (
  <Panel title={t("setup.connect")} note={t("setup.connect.note")}>
    {ForgeKind.literals.map((kind) => (
      <details key={kind} className="more">
        <summary>{webhookSetups[kind].host}</summary>
        <WebhookFacts kind={kind} />
      </details>
    ))}
  </Panel>
)

export const Setup = () => (
  <Page
    title={t("page.setup")}
    note={
      <>
        {t("setup.note")} <Link to="/deliveries">{t("page.deliveries")}</Link>
      </>
    }
  >
    <FirstDelivery />
    <Triggers />
    <CatchUps />
    <Inventories />
    <HostSteps />
    <Rejected />
  </Page>
)
