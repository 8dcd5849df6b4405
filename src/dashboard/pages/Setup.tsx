/** How to connect a host, ready to copy, and deliveries whose signature was wrong. */
import { Link } from "@tanstack/react-router"
import { prefix } from "../client/Call.ts"
import { useApi } from "../client/Queries.ts"
import { Copy, Facts } from "../parts/Facts.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t } from "../text/T.ts"
import { hosts } from "./Hosts.ts"

const Rejected = () => {
  const query = useApi("GET /rejected-signatures", {})
  return (
    <Panel title={t("setup.rejected")} note={t("setup.rejected.note")} flush>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t("setup.rejected.empty")} />
          ) : (
            <div className="scroll">
              <table>
                <thead>
                  <tr>
                    <th>{t("column.trigger")}</th>
                    <th className="end">{t("setup.deliveries")}</th>
                    <th>{t("setup.addresses")}</th>
                    <th className="end">{t("column.at")}</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ addresses, count, hour, last_at: at, trigger }) => (
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
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  )
}

/** Address of this service as the browser sees it, which the host may reach by another name. */
const webhookUrl = (path: string): string => `${location.origin}${prefix}${path}`

const HostSteps = () => (
  <Panel title={t("setup.connect")} note={t("setup.connect.note")}>
    {hosts.map(({ contentType, events, name, path, place, scopes }) => (
      <details key={name} className="more">
        <summary>{name}</summary>
        <Facts
          items={[
            [t("setup.place"), place],
            [t("setup.url"), <Copy key="url" value={webhookUrl(path)} />],
            [t("setup.type"), contentType],
            [t("setup.secret"), t("setup.secret.help")],
            [t("setup.events"), events],
            [t("setup.scopes"), scopes]
          ]}
        />
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
    <HostSteps />
    <Rejected />
  </Page>
)
