/** Searches for changes whose deliveries never arrived, by trigger: what they found, in which time deliveries were lost, and what failed. */
import type { Item } from "../client/Endpoints.ts"
import { useAction, useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Empty, Failure, Loaded } from "../parts/Panel.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason, tValue } from "../text/T.ts"

type Trigger = Item<"GET /triggers">
type State = NonNullable<Trigger["catch_up"]>

const unknownState: State = { found: 0, skipped: 0 }

/** State of the latest search, or of a requested one. */
const describeState = ({ failure, last_at: last, requested_at: requested }: State): string => {
  if (requested !== undefined) return t("catchUp.waits")
  if (failure !== undefined) return tReason(failure)
  return t(last === undefined ? "catchUp.never" : "catchUp.complete")
}

interface RowProps {
  readonly trigger: Trigger
  readonly onSearch: () => void
}

const CatchUpRow = ({
  onSearch,
  trigger: { catch_up: state = unknownState, last_delivery_at: delivered, name }
}: RowProps) => (
  <tr>
    <td>{name}</td>
    <td>{describeState(state)}</td>
    <td>
      {state.found_at === undefined ? (
        <Time at={undefined} />
      ) : (
        <>
          {state.found_since === undefined ? null : (
            <>
              <Time at={state.found_since} /> {t("catchUp.to")}{" "}
            </>
          )}
          <Time at={state.found_at} />
          {state.found_for === undefined ? null : <p className="quiet">{tValue("occasion", state.found_for)}</p>}
        </>
      )}
    </td>
    <td className="end">{formatCount(state.found)}</td>
    <td className="end">{formatCount(state.skipped)}</td>
    <td className="end">
      <Time at={delivered} />
    </td>
    <td className="end">
      <Time at={state.last_at} />
    </td>
    <td className="end">
      <ActionButton action="POST /triggers/:name/catch-up" className="small" onClick={onSearch}>
        {t("catchUp.start")}
        <span className="hidden"> {name}</span>
      </ActionButton>
    </td>
  </tr>
)

export const CatchUps = () => {
  const query = useApi("GET /triggers", {})
  const { error, mutate, variables } = useAction("POST /triggers/:name/catch-up", ["GET /triggers"])
  const search = (name: string) => () => mutate({ params: { name } })
  return (
    <Loaded query={query}>
      {({ items }) => (
        <>
          {error === null || variables === undefined ? null : <Failure error={error} retry={() => mutate(variables)} />}
          <TablePanel
            title={t("catchUp.title")}
            note={t("catchUp.note")}
            heads={[
              { label: t("column.trigger") },
              { label: t("catchUp.state") },
              { label: t("catchUp.gap") },
              { label: t("catchUp.found"), end: true },
              { label: t("catchUp.skipped"), end: true },
              { label: t("catchUp.delivery"), end: true },
              { label: t("catchUp.last"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("setup.none")} />}
            rows={items
              .filter(({ catch_up: state }) => state !== undefined)
              .map((trigger) => (
                <CatchUpRow key={trigger.name} trigger={trigger} onSearch={search(trigger.name)} />
              ))}
          />
        </>
      )}
    </Loaded>
  )
}
