/**
 * What the holder of a claim may do. All of it is on one level, and refused (an answer, not an error) where the claim is
 * no longer exactly the one meant: same job, same attempt, same entry, and still claimed.
 */

/** Words: of each claim id, attempts, entry. Answers with the numbers, from 0, of those that were refused. */
export const DELETE = `
local level, refused = queues[1].only, {}
for n = 1, #ARGV - arg + 1, 3 do
  local state = heldState(level, word(n), word(n + 1), word(n + 2))
  if state then drop(level, word(n), state) else refused[#refused + 1] = (n - 1) / 3 end
end
retire(level)
return refused
`;

/** Words: 1 the new deadline; then as for a delete. Answers as a delete does. */
export const EXTEND = `
local level, deadline, refused = queues[1].only, word(1), {}
insist()
for n = 2, #ARGV - arg + 1, 3 do
  local state = heldState(level, word(n), word(n + 1), word(n + 2))
  if state then call('ZADD', level.claims, deadline, word(n)) else refused[#refused + 1] = (n - 2) / 3 end
end
return refused
`;

/** Words: 1 id, 2 attempts, 3 entry, 4 due, 5 the error. Answers with 1, or 0: refused. */
export const RELEASE = `
local level, id, due, problem = queues[1].only, word(1), word(4), word(5)
local state = heldState(level, id, word(2), word(3))
if not state then return 0 end
local job = readJob(level, id, state.entry)
insist()
if not job then
  -- Somebody has deleted its entry: there is nothing to run again.
  drop(level, id, state)
  retire(level)
  return 0
end
if not job.isMoved then call('HSET', JOBS, id .. ':text', packText(level, job)) end
if problem == '' then call('HDEL', JOBS, id .. ':error') else call('HSET', JOBS, id .. ':error', problem) end
call('ZADD', level.delayed, due, id)
writeState(id, { attempts = state.attempts, entry = '', due = due, unique = state.unique, worker = '' })
call('XDEL', level.ready, state.entry)
call('ZREM', level.claims, id)
retire(level)
return 1
`;

/** Words: 1 id, 2 attempts, 3 entry, 4 now, 5 the error. Answers with 1, or 0: refused. */
export const FAIL = `
local level, id = queues[1].only, word(1)
local state = heldState(level, id, word(2), word(3))
if not state then return 0 end
local job = readJob(level, id, state.entry)
insist()
if job then
  call('HSET', FAILED_JOBS, id .. ':queue', level.queue.name, id .. ':name', job.name, id .. ':payload', job.payload,
    id .. ':attempts', state.attempts, id .. ':error', word(5))
  call('ZADD', FAILED, word(4), id)
end
drop(level, id, state)
retire(level)
return job and 1 or 0
`;
