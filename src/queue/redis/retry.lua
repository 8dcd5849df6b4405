-- dead -> waiting, as if it had never been tried. ARGV: entry id, now, reason. Answers what came of it (Retried).
local e = load(ARGV[1])
if not e then return 'unknown' end
if e.status ~= 'dead' then return 'not_dead' end
if call('HGET', P .. 'next', e.target) then return 'newer' end
move(e, 'waiting', { due = ARGV[2], attempts = '0', losses = '0', reason = ARGV[3] })
return 'retried'
