-- A user's messages are numbered 1, 2, 3 … up to message_seq.
SELECT u.id, u.id FROM accounts_enduser u
LEFT JOIN (SELECT end_user_id, count(*) AS n, min(seq) AS first, max(seq) AS last
           FROM memories_message GROUP BY end_user_id) m ON m.end_user_id = u.id
WHERE COALESCE(m.n, 0) <> u.message_seq
   OR (m.n > 0 AND (m.first <> 1 OR m.last <> u.message_seq))
