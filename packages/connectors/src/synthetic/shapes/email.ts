import type { Shape } from '../template.js';

export const email: Shape = {
  documentation: 'https://www.rfc-editor.org/rfc/rfc5322',
  choices: {
    mail: [
      { subject: 'Invoice {int:1000:9999}', name: 'invoice.pdf', type: 'application/pdf', spf: 'pass' },
      { subject: 'Your account will be closed', name: 'form.html', type: 'text/html', spf: 'fail' },
      {
        subject: 'Minutes',
        name: 'minutes.docx',
        type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        spf: 'pass',
      },
    ],
  },
  record: {
    message_id: '<{uuid}@mail.example.com>',
    date: '{time.iso}',
    from: '{person.email}',
    to: ['security@example.com'],
    subject: '{mail.subject}',
    return_path: '{person.email}',
    received_from: { ip: '{ip}', host: 'mail.example.com' },
    authentication_results: { spf: '{mail.spf}', dkim: 'pass', dmarc: '{mail.spf}' },
    attachments: [
      { filename: '{mail.name}', content_type: '{mail.type}', size: '{int:1000:400000}', sha256: '{hex:64}' },
    ],
  },
};
