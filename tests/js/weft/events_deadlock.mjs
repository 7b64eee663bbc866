// A fiber that waits for an event that nobody will complete is a deadlock; what owners leave behind is none.
import { create, queue } from 'weft:events';
import { go } from 'weft:go';

const owned = create();
go(() => {
    owned.own();
});
go(() => {
    try {
        owned.wait();
    } catch (error) {
        console.log(error.message);
    }
    create().wait();
    console.log('never');
});
go(() => queue().add(create()).pop());
